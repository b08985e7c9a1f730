# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Build hook: a wheel carries the sources of all that is compiled under mpigauge/_source. Where
MPIGAUGE_SHIPPED names a folder that tools/shipped.py has filled, it carries that too, and is for
machines like that alone; else it is for any, and kernels are built where they run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = ("CMakeLists.txt", "kernels", "profiler", "translate", "schema")
SHIPPED = "MPIGAUGE_SHIPPED"


class WheelSource(BuildHookInterface):  # type: ignore[type-arg,unused-ignore,misc]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        build_data["force_include"].update(
            {str(root / name): f"mpigauge/_source/{name}" for name in SOURCES}
        )
        if shipped := os.environ.get(SHIPPED):
            folder = Path(shipped).absolute()
            build_data["force_include"][str(folder)] = "mpigauge/_shipped"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform_of(folder)}"


def platform_of(folder: Path) -> str:
    """Returns the platform tag of the wheel: the machine and the oldest supported glibc."""
    (first, *_) = sorted(folder.glob("kernels/*/build.json"))
    made = json.loads(first.read_text(encoding="utf-8"))
    major, minor = made["libc"].removeprefix("glibc ").split(".")[:2]
    return f"manylinux_{major}_{minor}_{made['machine']}"
