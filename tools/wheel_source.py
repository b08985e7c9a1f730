# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Build hook: a wheel carries the sources of all that is compiled under mpigauge/_source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = ("CMakeLists.txt", "kernels", "profiler", "translate", "schema")


class WheelSource(BuildHookInterface):  # type: ignore[type-arg,unused-ignore,misc]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        build_data["force_include"].update(
            {str(root / name): f"mpigauge/_source/{name}" for name in SOURCES}
        )
