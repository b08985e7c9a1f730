# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Parses the output of impi_info, ucx_info and fi_info about settings."""

from __future__ import annotations

import re

from mpigauge.model.knob import Knob

NOT_DEFINED = "not defined"
_TYPES = {"MPI_CHAR": "string", "MPI_INT": "int", "MPI_DOUBLE": "double"}


def read_impi_info(everything: str, table: str) -> tuple[Knob, ...]:
    """Returns Intel MPI's variables: `impi_info -a` has types and descriptions, the table of
    `impi_info -e` defaults; each has some that the other lacks."""
    lines = re.findall(r"^\s*\|\s*(\w+)\s*\|(.*?)\|\s*(MPI_\w+)\s*\|", table, re.MULTILINE)
    defaults = {}
    for name, value, kind in lines:
        defaults[name] = (value.strip(), kind)
    about = dict(_blocks(everything))
    names = sorted({*about, *defaults})
    return tuple(_intel(name, about.get(name, ""), *defaults.get(name, ("", ""))) for name in names)


def read_ucx_config(text: str) -> tuple[Knob, ...]:
    """Returns the variables of `ucx_info -cf`: a paragraph of comment, then NAME=VALUE."""
    knobs = []
    comment: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            comment.append(line.lstrip("# ").strip())
        elif match := re.match(r"(UCX_\w+)=(.*)$", line):
            knobs.append(_ucx(match[1], match[2], comment))
            comment = []
        else:
            comment = []
    return tuple(knobs)


def read_fi_env(text: str) -> tuple[Knob, ...]:
    """Returns the variables of `fi_info -e`: `# NAME: type`, then their descriptions."""
    knobs = []
    for block in re.split(r"\n\s*\n", text):
        lines = [line.lstrip("# ").strip() for line in block.splitlines()]
        if lines and (match := re.match(r"(FI_\w+): (\w+)", lines[0])):
            words = " ".join(lines[1:])
            default = re.search(r"\(default:? ([^)]*)\)", words)
            knobs.append(
                Knob(
                    variable=match[1],
                    kind={"String": "string", "Boolean": "bool"}.get(match[2], match[2].lower()),
                    default=default[1].strip() if default else None,
                    read="start",
                    about=words,
                    of="libfabric",
                )
            )
    return tuple(knobs)


def _blocks(text: str) -> list[tuple[str, str]]:
    """Returns the names at the beginning of lines, each with the indented lines below."""
    blocks = re.findall(r"^(\w+) *\n((?:^ +.*\n?)*)", text, re.MULTILINE)
    return [(name, body) for name, body in blocks if name.isupper()]


def _intel(name: str, body: str, default: str, kind: str) -> Knob:
    typed = re.search(r"MPI Datatype:\s*(\w+)", body)
    words = body.partition("Description:")[2]
    return Knob(
        variable=name,
        kind=_TYPES.get(typed[1] if typed else kind, ""),
        default=None if default in ("", NOT_DEFINED) else default,
        read="start",
        about=" ".join(words.split()),
    )


def _ucx(name: str, value: str, comment: list[str]) -> Knob:
    kind = next((line[len("syntax:") :] for line in comment if line.startswith("syntax:")), "")
    words = " ".join(line for line in comment if line and not line.startswith("syntax:"))
    return Knob(
        variable=name,
        kind=" ".join(kind.split()),
        default=value,
        read="start",
        about=words,
        of="ucx",
    )
