# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Calls mpigauge many times, each time in a process of its own, and loads it only once.

Standard input has a list of calls: {"words", "streams": {"0": how, "1": how, "2": how}}, where how
is a path, "closed", or "gone": a pipe that nobody reads. Standard output gets what each ended with:
its exit status.
"""

from __future__ import annotations

import json
import os
import sys

import numpy as np

from mpigauge.cli import main
from mpigauge.cli.registry import COMMANDS, module_of
from mpigauge.result.document import document
from mpigauge.show import formats

LOADED = [np, document, formats]
LOADED += map(module_of, COMMANDS)


def set_up(number: int, how: str) -> None:
    """A stream as a shell would give it."""
    os.close(number)
    if how == "closed":
        return
    if how == "gone":
        read, write = os.pipe()
        os.dup2(write, number)
        for end in {read, write} - {number}:
            os.close(end)
        return
    handle = os.open(how, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
    if handle != number:
        os.dup2(handle, number)
        os.close(handle)


def stream(number: int, how: str) -> object:
    """As Python makes it when it starts."""
    return None if how == "closed" else open(number, "w", encoding="utf-8", closefd=False)


def begin(words: list[str], streams: dict[str, str]) -> None:
    """The rest of this process is one call."""
    for number in ("0", "1", "2"):
        set_up(int(number), streams[number])
    sys.stdout, sys.stderr = stream(1, streams["1"]), stream(2, streams["2"])
    sys.argv = ["mpigauge", *words]
    main()


def go() -> list[int]:
    ended = []
    for call in json.load(sys.stdin):
        child = os.fork()
        if child == 0:
            begin(call["words"], call["streams"])
        _, status = os.waitpid(child, 0)
        ended.append(os.waitstatus_to_exitcode(status))
    return ended


if __name__ == "__main__":
    print(json.dumps(go()))
