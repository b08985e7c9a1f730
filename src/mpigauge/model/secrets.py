# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Values that are never stored or put on a command line: those of variables with secret names.

A stored run has MASK instead."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mpigauge.model.errors import UserError

SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "JWT")
"""A name that holds one of these, in any case, looks secret."""
_OF_MPI = ("MPIR_CVAR_", "OMPI_MCA_", "PRTE_MCA_", "I_MPI_", "UCX_", "FI_")
"""Prefixes of settings that are no secret, such as MPIR_CVAR_CH4_OFI_ENABLE_MR_PROV_KEY."""
MASK = "(not stored)"
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_][\w-]*)(?P<link>[=:]?=)(?P<value>.+)", re.DOTALL)
_TAKE_PAIRS = frozenset(("-genv", "--genv", "-env", "--env"))
"""Launcher options that are followed by a name and a value, as separate words."""


def looks_secret(name: str) -> bool:
    return any(word in name.upper() for word in SECRETS) and not name.startswith(_OF_MPI)


def masked(values: Mapping[str, str]) -> dict[str, str]:
    """The variables without the values that look secret. Empty values are kept."""
    variables = {}
    for name, value in values.items():
        variables[name] = MASK if value and looks_secret(name) else value
    return variables


def masked_words(words: Sequence[str]) -> list[str]:
    """A command line without these values: NAME=VALUE in a word, NAME VALUE after launcher
    options."""
    kept: list[str] = []
    for place, word in enumerate(words):
        is_value = place > 1 and words[place - 2] in _TAKE_PAIRS and looks_secret(words[place - 1])
        kept.append(MASK if is_value and "=" not in words[place - 1] else _masked_word(word))
    return kept


def masked_json(data: Any) -> Any:
    """Data to be stored, without these values: of `env` and `settings`, and in the words of
    commands, at any depth."""
    if isinstance(data, Mapping):
        return {key: _masked_member(key, value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [masked_json(each) for each in data]
    return data


def masked_script(text: str) -> str:
    """The command lines of a file, without these values; unchanged if they have none. ValueError:
    they are no valid shell syntax."""
    lines = [shlex.split(line) for line in text.replace("\\\n", " ").split("\n")]
    kept = [masked_words(words) for words in lines]
    if kept == lines:
        return text
    return "\n".join(map(shlex.join, kept))


def _masked_member(key: str, value: Any) -> Any:
    if key in ("env", "settings") and isinstance(value, Mapping):
        return masked(value)
    if key in ("command", "words", "arguments") and isinstance(value, (list, tuple)):
        return masked_words(value)
    return masked_json(value)


def as_typed(values: Mapping[str, str]) -> Iterator[str]:
    """The variables before a command, in shell syntax; a secret value refers to the variable of the
    same name."""
    for name, value in sorted(values.items()):
        if value and looks_secret(name):
            yield f'{name}="${name}"'
        else:
            yield f"{name}={shlex.quote(value)}"


def revealed(data: Any, environment: Mapping[str, str], name: str = "") -> Any:
    """Stored data with the values of this environment instead of MASK. `name`: the name of the
    value `data`. UserError: a variable is not set here."""
    if isinstance(data, Mapping):
        return {key: revealed(value, environment, str(key)) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        before = ["", *map(str, data)]
        return [revealed(each, environment, before[at]) for at, each in enumerate(data)]
    if isinstance(data, str) and data.endswith(MASK):
        start = data.removesuffix(MASK)
        return start + _value(_name_in(start) or name, environment)
    return data


def _masked_word(word: str) -> str:
    """A word without its secret value; NAME=VALUE may follow an option: --env=NAME=VALUE.
    Everything after the first secret name is removed."""
    assignment = _ASSIGNMENT.search(word)
    while assignment and not looks_secret(assignment["name"]):
        assignment = _ASSIGNMENT.search(word, assignment.start("value"))
    if assignment is None or assignment["value"] == f"${assignment['name']}":
        return word
    return word[: assignment.start("value")] + MASK


def _name_in(start: str) -> str:
    """The name before the last equals sign."""
    return re.split(r"[^\w]", start.rstrip("=:"))[-1]


def _value(name: str, environment: Mapping[str, str]) -> str:
    if name not in environment:
        raise UserError(
            f"the value of {name} resembles a secret and was not stored: set {name} in the "
            "environment and give the command again"
        )
    return environment[name]
