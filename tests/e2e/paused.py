# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge that waits where a test wants to press Ctrl-C: `paused.py MODULE:FUNCTION WORD...`.

Before the function is called the first time the file `here` is made, and the file `go` is waited
for. In mpigauge itself nothing knows of this.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from mpigauge.cli import main

PATIENCE_S = 120.0


def pause() -> None:
    if Path("here").exists():
        return
    Path("here").touch()
    end = time.monotonic() + PATIENCE_S
    while not Path("go").exists() and time.monotonic() < end:
        time.sleep(0.02)


def stop_before(place: str) -> None:
    """MODULE:FUNCTION, or MODULE:CLASS.METHOD."""
    module, _, path = place.partition(":")
    owner: Any = import_module(module)
    *outer, name = path.split(".")
    for each in outer:
        owner = getattr(owner, each)
    original = getattr(owner, name)

    def paused(*args: Any, **named: Any) -> Any:
        pause()
        return original(*args, **named)

    setattr(owner, name, paused)


if __name__ == "__main__":
    stop_before(sys.argv[1])
    sys.argv = ["mpigauge", *sys.argv[2:]]
    main()
