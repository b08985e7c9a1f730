# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The start of a bundle: by a Python of the node on which it was unpacked, or not at all."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

PROGRAM = "bin/mpigauge"
PYTHON = "python"
"""The folder with the packages. Python runs it by its __main__.py, and looks there first."""
MAIN = "__main__.py"
IMB = "imb/IMB-MPI1"
VARIABLE = "MPIGAUGE_PYTHON"


@dataclass(frozen=True)
class Needs:
    """The requirements of a bundle's Python part on a node."""

    tag: str
    """The tag of the Python that compiled packages need: cpython-311."""
    version: str
    machine: str
    libc: tuple[int, int]
    """The oldest glibc that packages run with."""

    @property
    def words(self) -> str:
        return f"Python {self.version} on {self.machine} with glibc {self.glibc} or later"

    @property
    def glibc(self) -> str:
        return glibc(self.libc)


def glibc(version: tuple[int, int]) -> str:
    return "{}.{}".format(*version)


def needs(libc: tuple[int, int]) -> Needs:
    """The requirements of packages that run with this Python on this machine."""
    tag = str(sys.implementation.cache_tag)
    return Needs(tag, "{}.{}".format(*sys.version_info[:2]), platform.machine(), libc)


def program(needed: Needs) -> str:
    """The text of the program that users start."""
    return _PROGRAM.format(needs=needed, variable=VARIABLE, python=PYTHON, imb=IMB)


def how_to_run(top: str) -> list[str]:
    """Lines for a shell, where the archive was unpacked."""
    return [f"{top}/{PROGRAM} quick", f"mpirun -n 2 {top}/{IMB} PingPong"]


def readme(needed: Needs) -> str:
    with_python, without = how_to_run(".")
    return _README.format(needs=needed, variable=VARIABLE, start=with_python, imb=without)


def main(needed: Needs) -> str:
    """The first program that this Python runs."""
    return _MAIN.format(needs=needed)


_README = """\
mpigauge, to be run where it is: this folder may lie anywhere and be read-only.

With {needs.words}:

    {start}

{variable} may name that Python. With an MPI and no Python:

    {imb}

An MPI is found by its mpirun, by LD_LIBRARY_PATH or by the system's loader; MPIGAUGE_LIBMPI names
another libmpi.
"""
_PROGRAM = """\
#!/bin/sh
# Starts the mpigauge of this folder, wherever it lies, with a Python {needs.version} that is here.
refuse() {{
  echo "mpigauge: $1" >&2
  exit 2
}}
fits() {{
  "$1" -c 'import sys; sys.exit(sys.implementation.cache_tag != "{needs.tag}")' 2>/dev/null
}}
self=$(readlink -f "$0") || refuse "readlink cannot resolve $0"
top=${{self%/*/*}}
without="$top/{imb} and the like need no Python"
[ "$(uname -m)" = "{needs.machine}" ] ||
  refuse "this bundle is for {needs.machine}, and this machine is $(uname -m)"
if [ -n "${{{variable}:-}}" ]; then
  fits "${variable}" ||
    refuse "{variable} names $MPIGAUGE_PYTHON, which is not Python {needs.version}; $without"
  exec "${variable}" "$top/{python}" "$@"
fi
for name in python{needs.version} python3; do
  if fits $name; then exec $name "$top/{python}" "$@"; fi
done
here=$(python3 --version 2>/dev/null) || here="no Python"
refuse "this bundle is for Python {needs.version}, and on PATH is $here; name one by \\
{variable}, or make the bundle with a Python as here, if it is 3.10 or later; $without"
"""

_MAIN = '''\
"""Starts mpigauge out of a bundle."""

import platform
import sys

name, version = platform.libc_ver()
numbers = [int(each) for each in version.split(".") if each.isdigit()]
if name != "glibc" or numbers < [{needs.libc[0]}, {needs.libc[1]}]:
    here = f"{{name}} {{version}}" if name else "another C library"
    sys.stderr.write(f"mpigauge: this bundle needs glibc {needs.glibc}, and here is {{here}}\\n")
    sys.exit(2)

from mpigauge.cli import main

main()
'''
