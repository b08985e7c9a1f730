# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Return addresses get the names of functions and, where a program has them, of lines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mpigauge.products.profile.read import demangled, symbols
from mpigauge.products.profile.read.rank_file import Module, ReturnAddress
from mpigauge.products.profile.read.symbols import (
    Place,
    Symbols,
    parse_lines,
    read_symbols,
    resolved,
)
from mpigauge.site.builds.cxx import compiler_words

SOURCE = """
extern "C" __attribute__((noinline)) int inner(int n) { asm volatile(""); return n + 1; }
extern "C" __attribute__((noinline)) int outer(int n) { return inner(n) + inner(n + 1); }
int main(int n, char**) { return outer(n); }
"""


def built(folder: Path, *flags: str) -> Module:
    source, program = folder / "program.cpp", folder / "program"
    source.write_text(SOURCE)
    words = [*compiler_words("a test"), "-O1", "-Wl,--build-id", *flags]
    subprocess.run([*words, str(source), "-o", str(program)], check=True)
    found = read_symbols(program)
    assert found is not None
    return Module(str(program), found.build_id)


def frame_in(module: Module, function: str) -> ReturnAddress:
    """A few bytes into it."""
    found = read_symbols(Path(module.path))
    assert found is not None
    return ReturnAddress(module, found.starts[found.names.index(function)] + 4)


def test_debug_information_gives_lines(tmp_path: Path) -> None:
    frame = frame_in(built(tmp_path, "-g"), "outer")
    (place,) = resolved([frame])[frame]
    assert (place.function, Path(place.file).name, place.line) == ("outer", "program.cpp", 3)
    assert place.text == "outer at program.cpp:3"


def test_debug_information_may_lie_beside_a_program(tmp_path: Path) -> None:
    """As distributions have it: the program is stripped, and names the file of its symbols."""
    module = built(tmp_path, "-g")
    frame = frame_in(module, "outer")
    apart = tmp_path / "program.debug"
    subprocess.run(["objcopy", "--only-keep-debug", module.path, str(apart)], check=True)
    subprocess.run(["strip", "--strip-all", module.path], check=True)
    assert resolved([frame]) == {}
    subprocess.run(["objcopy", f"--add-gnu-debuglink={apart}", module.path], check=True)
    (place,) = resolved([frame])[frame]
    assert (place.function, Path(place.file).name, place.line) == ("outer", "program.cpp", 3)


@pytest.mark.parametrize("with_tools", [True, False])
def test_without_it_there_are_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_tools: bool
) -> None:
    if not with_tools:
        monkeypatch.setattr(symbols, "_tool", list)
    frame = frame_in(built(tmp_path), "inner")
    (place,) = resolved([frame])[frame]
    assert (place.function, place.file, place.offset) == ("inner", "", 3)
    assert place.text == "inner+0x3"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("_ZN9LAMMPS_NS6Thermo5writeEl", "LAMMPS_NS::Thermo::write(long)"),
        ("main", "main"),
        ("_Zero", "_Zero"),
    ],
)
def test_names_of_cpp_are_those_of_the_sources(name: str, said: str) -> None:
    found = Symbols("", (16,), (32,), (name,)).place_of(20)
    assert found == Place(said, offset=4)


def test_without_a_runtime_of_cpp_names_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangled, "_runtime", lambda: None)
    assert demangled.demangled("_ZN4Heat4stepEv") == "_ZN4Heat4stepEv"


def test_a_file_that_is_another_one_now_gives_no_names(tmp_path: Path) -> None:
    module = built(tmp_path)
    frame = frame_in(module, "inner")
    old = ReturnAddress(Module(module.path, "00" * 20), frame.offset)
    gone = ReturnAddress(Module(str(tmp_path / "gone"), ""), 1)
    assert resolved([old, gone, ReturnAddress(None, 5)]) == {}


def test_files_that_are_no_code_give_no_names(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no code")
    cut = tmp_path / "cut"
    cut.write_bytes(b"\x7fELF\x02" + bytes(10))
    assert read_symbols(text) is read_symbols(cut) is read_symbols(tmp_path / "missing") is None


def test_what_tools_say_is_read_with_inlined_functions() -> None:
    inlined = "0x12\nnorm(double*)\n/src/norm.cpp:88 (discriminator 3)\nmain\n/src/main.cpp:5\n"
    assert parse_lines(inlined + "0x20\n??\n??:0\n") == {
        0x12: (Place("norm(double*)", "/src/norm.cpp", 88), Place("main", "/src/main.cpp", 5)),
        0x20: (Place(""),),
    }
