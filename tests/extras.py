# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A Python in which packages cannot be imported, as where an extra is not installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

OF_EXTRAS = ("duckdb", "vl_convert", "scipy_openblas64")
OF_TESTS = ("scipy", "hypothesis", "sphinx", "yaml", "pandas", "matplotlib")
"""Those that only our tests have."""


def hide(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """From this process; a module that is None in sys.modules is not found."""
    for name in modules or OF_EXTRAS:
        for known in [each for each in sys.modules if each.startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, known)
        monkeypatch.setitem(sys.modules, name, None)


def without_extras(folder: Path) -> dict[str, str]:
    """Variables for a process of Python that finds none of them, nor has what it starts."""
    names = (*OF_EXTRAS, *OF_TESTS)
    text = f"import sys\nsys.modules.update(dict.fromkeys({names!r}))\n"
    (folder / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": str(folder)}
