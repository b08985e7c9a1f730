# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The JSON that nccl-tests writes (-J FILE): the same tests as in its text.

Of a file that is cut short or damaged, all results up to there are read.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from mpigauge.runs.readers.nccl_cards import EACH, name_of_call, name_of_program
from mpigauge.runs.readers.nccl_rows import (
    ALGORITHM,
    CPU_TIME,
    IN_PLACE,
    MEDIAN,
    OUT_OF_PLACE,
    SETTINGS,
    TIME,
    WRONG,
    NcclTest,
    Operation,
    average_in,
    library_version,
)
from mpigauge.runs.readers.settings_lines import setting_in
from mpigauge.runs.readers.text import Unread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.runs.readers.text import Text

Document = dict[str, Any]
_PARTS = ("args", "env", "nccl_version", "config", "start_time")
_RESULTS = re.compile(r'"results"\s*:\s*\[\s*')
_BETWEEN = re.compile(r"\s*,\s*")
_KEYS = {
    "time": TIME, "cpu_time": CPU_TIME, "alg_bw": ALGORITHM, "nwrong": WRONG,
    "min_us": "i_min", "max_us": "i_max", "p99_us": "i_p99", "p50_us": MEDIAN,
}  # fmt: skip
"""Heads of the text by keys."""
_PLACES = {"out_of_place": OUT_OF_PLACE, "in_place": IN_PLACE}
_FACTS = {"aggregated_iterations": "agg iters", "graph": "graph", "unalign": "unalign"}
"""Facts of the text by keys."""
_DECODER = json.JSONDecoder()
_SHOWN = 60
_NAMELESS = "the name of its test is missing; --benchmark gives it"
_OF_LIBRARY = ("NCCL_", "RCCL_")
"""Beginnings of the variables that change what is measured."""


def tests_in_json(text: Text) -> tuple[list[NcclTest], list[Unread]]:
    """The tests in a JSON text, and the results that are not whole; none: it is another text."""
    whole = "\n".join(text.lines)
    tests: list[NcclTest] = []
    unread: list[Unread] = []
    if not whole.lstrip().startswith("{") or '"alg_bw"' not in whole:
        return tests, unread
    for line, document, damage in _documents(whole):
        test = _described(document, text)
        problems = list(_results(test, document)) if test.name else [(_shown(document), _NAMELESS)]
        problems += [(_shown(document), damage)] if damage else []
        tests += [test] if test.name else []
        unread += (Unread(line, shown, why) for shown, why in problems)
    return tests, unread


def _documents(whole: str) -> Iterator[tuple[int, Document, str]]:
    """Each document with its line, and the reason why it is not whole; empty: it is."""
    start = whole.find("{")
    while start >= 0:
        line = whole.count("\n", 0, start) + 1
        try:
            document, end = _DECODER.raw_decode(whole, start)
        except (ValueError, RecursionError):
            yield line, _remains(whole[start:]), "its JSON is cut off or damaged"
            return
        if isinstance(document, dict) and isinstance(document.get("results"), list):
            yield line, document, ""
        start = whole.find("{", end)


def _remains(text: str) -> Document:
    """The facts and the results of a damaged document that can be read."""
    document: Document = {}
    for name in _PARTS:
        if match := re.search(rf'"{name}"\s*:\s*', text):
            value, _ = _value_at(text, match.end())
            document[name] = value
    match = _RESULTS.search(text)
    results = []
    while match:
        value, end = _value_at(text, match.end())
        if value is None:
            break
        results.append(value)
        match = _BETWEEN.match(text, end)
    return document | {"results": results}


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The value at this place with its end; None: it is not whole."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


def _described(document: Document, text: Text) -> NcclTest:
    """The test that the document describes, without its results."""
    words = [str(word) for word in _list(document.get("args"))]
    name = name_of_call(text.benchmark) if text.benchmark else ""
    if words and PurePath(words[0]).name.endswith("_perf"):
        name = name_of_program(PurePath(words[0]).name)
    test = NcclTest(name=name, given_ranks=text.ranks, average=average_in(" ".join(words)))
    version = document.get("nccl_version")
    if isinstance(version, int):
        test.library = f"NCCL {library_version(version)}"
    test.time = str(document.get("start_time", "")).replace(" ", "T")
    for variable in map(str, _list(document.get("env"))):
        if variable.startswith(_OF_LIBRARY) and (setting := setting_in(variable)):
            test.surroundings[setting[0]] = setting[1]
    config = _mapping(document.get("config"))
    _configure(test, config)
    for device in map(_mapping, _list(config.get("devices", document.get("devices")))):
        rank, group = device.get("rank"), device.get("group", 0)
        if isinstance(rank, int) and isinstance(group, int):
            place = f"{device.get('hostname')} {device.get('device_hex')}"
            test.devices[rank] = (group, place)
    return test


def _configure(test: NcclTest, config: Mapping[str, Any]) -> None:
    """Adds the facts of the configuration to the test."""
    if isinstance(calls := config.get("iterations"), int):
        test.calls = calls
    if str(config.get("blocking_collectives")).lower() not in ("false", "0", "none"):
        test.completion = EACH
    for key, fact in _FACTS.items():
        setting, usual = SETTINGS[fact]
        if str(config.get(key, usual)) != usual:
            test.settings[setting] = str(config[key])


def _results(test: NcclTest, document: Document) -> Iterator[tuple[str, str]]:
    """Adds all results to the test. Yields each that is not one, and the reason."""
    for result in map(_mapping, document["results"]):
        size, count = result.get("size"), result.get("count")
        if not (isinstance(size, int) and isinstance(count, int) and size >= 0 and count >= 0):
            yield _shown(result), "it has no size and count"
            continue
        texts = {name: str(result.get(name, "")).strip() for name in ("type", "redop", "root")}
        operation = Operation(size=size, count=count, **texts)
        for key, place in _PLACES.items():
            if half := _mapping(result.get(key)):
                half = {**half, **_mapping(result.get(f"{key}_per_iter"))}
                printed = {_KEYS[name]: _word(half[name]) for name in _KEYS if name in half}
                if why := test.add(operation, place, printed):
                    yield _shown(result), why


def _shown(value: Mapping[str, Any]) -> str:
    return str(value)[:_SHOWN]


def _word(value: Any) -> str:
    return "N/A" if value is None else str(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
