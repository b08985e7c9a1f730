# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the commands: the files of commands/, and those of products that are called `command`.

`products/map/command.py` is the command `map`; `products/sweep/command_best.py` is the command
`best`, since a product may have several. Beside its `command`, a module may have a function
`check_options`, which refuses options that cannot be carried out, whatever hosts there are.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from mpigauge.model.registry import Registry, modules_in

if TYPE_CHECKING:
    from types import ModuleType

    import click

FOLDER, PRODUCTS = "mpigauge.commands", "mpigauge.products"
_OF_A_PRODUCT = "command"
FORMER_NAMES = {
    "kernels": "mpi build",
    "list": "benchmarks",
    "ls": "runs",
    "plan": "sweep --dry-run",
    "settings": "mpi settings",
    "transports": "mpi transports",
    "watch": "show --follow",
}
"""Names of commands in older versions, which are understood and not listed, and their words now."""


def files_of_products(first_word: str) -> dict[str, str]:
    """Returns the files of products whose names begin with this word: the import path of each, by
    the rest of its name, or else by its product. RuntimeError: two have one name."""
    modules: dict[str, str] = {}
    folders = import_module(PRODUCTS).__path__
    for product in iter_modules(folders):
        # Found without importing the product: most of them are not needed.
        for file in iter_modules([f"{folder}/{product.name}" for folder in folders]):
            first, _, rest = file.name.partition("_")
            if first == first_word:
                _add(modules, rest or product.name, f"{PRODUCTS}.{product.name}.{file.name}")
    return modules


def command_modules() -> dict[str, str]:
    """The module of each command, by the command's name. RuntimeError: two have one name."""
    modules = modules_in(FOLDER)
    for name, path in files_of_products(_OF_A_PRODUCT).items():
        _add(modules, name, path)
    return modules


def _add(modules: dict[str, str], name: str, path: str) -> None:
    if name in modules:
        raise RuntimeError(f"'{name}' has two files")
    modules[name] = path


def module_of(name: str) -> ModuleType:
    """The module of the command of this name."""
    return import_module(command_modules()[name])


def _command_of(name: str, module: ModuleType) -> click.Command:
    del name
    command: click.Command = module.command
    return command


COMMANDS: Registry[click.Command] = Registry("command", command_modules, make_entry=_command_of)
