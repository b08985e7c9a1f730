# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How registries are filled: what lies in a folder registers itself when it is imported."""

from __future__ import annotations

import importlib
import pkgutil


def import_all(package: str) -> None:
    """Imports every module of this package, not of those below it."""
    found = importlib.import_module(package)
    for module in pkgutil.iter_modules(found.__path__, f"{package}."):
        importlib.import_module(module.name)
