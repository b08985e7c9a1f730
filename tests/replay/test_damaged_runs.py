# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Stored runs of which a file is damaged: every command says something or nothing, and never fails
with an exception of Python."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mpigauge.cli.main import run
from tests import pages

COMMANDS = (
    ("show", "{run}"),
    ("show", "{run}", "--format", "json"),
    ("compare", "{run}", "{good}"),
    ("explain", "{run}"),
    ("ls", "{root}"),
    ("model", "{run}"),
    ("plot", "{run}", "latency"),
    ("check", "{run}", "--against", "{good}"),
    ("share", "{run}", "--anonymous", "-o", "{root}/packed"),
    ("report", "{run}", "-o", "{root}/page.html"),
    ("watch", "{run}"),
    ("best", "{run}"),
    ("node", "{run}"),
)
WHOLE = {
    "empty": b"", "a list": b"[]", "null": b"null", "a number": b"3", "an object": b"{}",
    "bytes": b"\xff\xfe\x00\x01", "deep": b"[" * 100_000,
}  # fmt: skip
OTHERS: tuple[object, ...] = (
    None, 1, -1.5, "x", [], {}, [1], {"a": 1}, True, "\x1b[2J", 1e308, [[]], "",
)  # fmt: skip
"""In the place of any value."""
FILES = ("run.json", "passport.json", "status.json", "cards.json", "records.jsonl")
MOST_VALUES = 12
"""Of each file, in each test; which, the seed decides."""
SIZES = [0, 8, 65536]
"""Few, as every command reads the run again."""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.hostile(tmp_path_factory.mktemp("good"), SIZES)


def places(data: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where values are; of lists the first two."""
    if at:
        yield at
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*at, key))
    elif isinstance(data, list):
        for number, value in enumerate(data[:2]):
            yield from places(value, (*at, number))


def changed(data: Any, at: tuple[str | int, ...], value: object) -> Any:
    copy = json.loads(json.dumps(data))
    inner = copy
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return copy


def damaged(name: str, content: bytes, seed: int) -> Iterator[tuple[str, bytes | None]]:
    """What is done to a file, in words, and what is left of it; None: it is gone."""
    chance = random.Random(f"{name} {seed}")
    yield "gone", None
    yield "a half", content[: len(content) // 2]
    yield from WHOLE.items()
    lines = content.decode().splitlines() if name.endswith(".jsonl") else [content.decode()]
    documents = [json.loads(line) for line in lines]
    every = [(n, at) for n, data in enumerate(documents) for at in places(data)]
    for number, at in chance.sample(every, min(len(every), MOST_VALUES)):
        value = chance.choice(OTHERS)
        new = [*documents[:number], changed(documents[number], at, value), *documents[number + 1 :]]
        text = "\n".join(map(json.dumps, new))
        yield f"{at} is {value!r}", text.encode() + b"\n"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("seed", range(2))
def test_a_damaged_file_of_a_run(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, seed: int
) -> None:
    folder = pages.hostile(tmp_path, SIZES)
    file = folder / name
    content = file.read_bytes()
    where = {"run": folder, "good": good, "root": tmp_path}
    chance = random.Random(seed)
    for what, left in damaged(name, content, seed):
        if left is None:
            file.unlink()
        else:
            file.write_bytes(left)
        for command in chance.sample(COMMANDS, 4):
            words = [word.format(**where) for word in command]
            try:
                status = run(words)
            except Exception as error:
                raise AssertionError(f"{name}: {what}: {' '.join(words)}") from error
            assert status in (0, 1, 2)
            said = capsys.readouterr().err
            assert "Traceback" not in said
        file.write_bytes(content)
