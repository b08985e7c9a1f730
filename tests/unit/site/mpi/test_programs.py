# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a program is to MPI: its file, what the loader would choose, which MPIs can run it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi.programs import abi, look, suits
from mpigauge.site.mpi.programs.elf import DamagedError, parse, read_elf
from mpigauge.site.mpi.programs.loader import Loader, read_cache
from mpigauge.site.mpi.programs.suits import hindrances
from tests.elf_files import AARCH64, I386, S390X, Made, cache
from tests.unit.site.launch.test_launch import MPICH, OPENMPI5

MPI_C = ("MPI_Init", "MPI_Send")
HERE = {"PATH": "/usr/bin:/bin"}


# --- files ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("wide", [True, False], ids=["64-bit", "32-bit"])
@pytest.mark.parametrize("little", [True, False], ids=["little", "big"])
def test_a_file_says_what_it_needs_wants_and_offers(wide: bool, little: bool) -> None:
    made = Made(
        needed=("libmpi.so.12", "libc.so.6"),
        soname="libapp.so.1",
        rpath="/a:/b",
        wants=MPI_C,
        offers=("solve",),
        wide=wide,
        little=little,
        machine=S390X if not little else X86 if wide else I386,
    )
    elf = parse(made.content())
    assert (elf.bits, elf.little) == (64 if wide else 32, little)
    assert elf.needed == ("libmpi.so.12", "libc.so.6")
    assert (elf.soname, elf.rpath, elf.runpath) == ("libapp.so.1", ("/a", "/b"), ())
    assert elf.interpreter == "/lib64/ld-linux-x86-64.so.2"
    assert elf.wants == {"MPI_Init", "MPI_Send"}
    assert elf.offers == {"solve"}
    assert elf.dynamic


X86 = 62


def test_a_static_program_may_hold_an_mpi() -> None:
    made = Made(dynamic=False, interpreter="", linked=("main", "MPI_Init"))
    elf = parse(made.content())
    assert not elf.dynamic
    assert elf.holds_mpi
    assert not parse(replace(made, linked=("main",)).content()).holds_mpi


@pytest.mark.parametrize("keep", [4, 30, 64, 100, 200])
def test_a_damaged_file_is_said_to_be_damaged(keep: int) -> None:
    content = Made(needed=("libmpi.so.12",), wants=MPI_C).content()
    with pytest.raises(DamagedError, match="damaged"):
        parse(content[:keep] + bytes([255]) * 8)


def test_text_is_no_machine_code(tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match="does not begin"):
        parse(b"#!/bin/sh\n")
    (tmp_path / "empty").touch()
    with pytest.raises(DamagedError, match="empty"):
        read_elf(tmp_path / "empty")


def test_readelf_sees_the_same_in_real_programs() -> None:
    for path in (Path(sys.executable).resolve(), Path("/bin/sh").resolve()):
        words = ["readelf", "--wide", "--dynamic", "--dyn-syms", str(path)]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        elf = read_elf(path)
        needed = [line.partition("[")[2].rstrip("]") for line in said.splitlines()
                  if "(NEEDED)" in line]  # fmt: skip
        assert list(elf.needed) == needed
        rows = [line.split() for line in said.splitlines() if line.strip()[:1].isdigit()]
        named = [row for row in rows if len(row) > 7 and row[0].endswith(":")]
        assert elf.wants == {row[7].partition("@")[0] for row in named if row[6] == "UND"}


# --- the loader -----------------------------------------------------------------------------------
def chosen(root: Path, program: Made, env: dict[str, str] | None = None, **how: bool) -> list[str]:
    """Where each library is found, from the root, and by what."""
    path = program.write(root / "bin" / "app")
    loader = Loader(env or {}, root, **how)
    found = loader.libraries(path, read_elf(path))
    return [
        f"{each.name} {each.path.relative_to(root) if each.path else '-'} {each.through}".strip()
        for each in found
    ]


def library(name: str, **more: object) -> Made:
    return replace(Made(soname=name, interpreter=""), **more)  # type: ignore[arg-type]


def test_the_loader_looks_where_glibc_does(tmp_path: Path) -> None:
    for folder in ("rpath", "path", "runpath", "cached", "usr/lib64"):
        library("libmpi.so.12").write(tmp_path / folder / "libmpi.so.12")
    (tmp_path / "etc").mkdir()
    listed = cache([("libmpi.so.12", "/cached/libmpi.so.12")])
    (tmp_path / "etc/ld.so.cache").write_bytes(listed)
    app, env = Made(needed=("libmpi.so.12",)), {"LD_LIBRARY_PATH": "/none:/path"}
    with_rpath = replace(app, rpath="/rpath")
    both = replace(with_rpath, runpath="/runpath")
    assert chosen(tmp_path, with_rpath, env) == ["libmpi.so.12 rpath/libmpi.so.12 RPATH /rpath"]
    assert chosen(tmp_path, both, env) == ["libmpi.so.12 path/libmpi.so.12 LD_LIBRARY_PATH"]
    assert chosen(tmp_path, both) == ["libmpi.so.12 runpath/libmpi.so.12 RUNPATH /runpath"]
    assert chosen(tmp_path, app) == [
        "libmpi.so.12 cached/libmpi.so.12 the cache of ldconfig",
    ]
    (tmp_path / "etc/ld.so.cache").unlink()
    assert chosen(tmp_path, app) == ["libmpi.so.12 usr/lib64/libmpi.so.12 the usual folders"]


def test_a_program_with_more_rights_has_no_path_and_no_preload(tmp_path: Path) -> None:
    library("libmpi.so.12").write(tmp_path / "path/libmpi.so.12")
    env = {"LD_LIBRARY_PATH": "/path", "LD_PRELOAD": "/path/libmpi.so.12"}
    app = Made(needed=("libmpi.so.12",))
    assert chosen(tmp_path, app, env, secure=True) == ["libmpi.so.12 -"]
    assert chosen(tmp_path, app, env) == ["/path/libmpi.so.12 path/libmpi.so.12 LD_PRELOAD"]


def test_rpath_counts_for_libraries_below_and_runpath_does_not(tmp_path: Path) -> None:
    library("libmid.so", needed=("libmpi.so.12",)).write(tmp_path / "lib/app/libmid.so")
    library("libmpi.so.12").write(tmp_path / "lib/app/libmpi.so.12")
    app = Made(needed=("libmid.so",))
    origin = "$ORIGIN/../lib/app"
    inherited = chosen(tmp_path, replace(app, rpath=origin))
    assert [line.split()[0] for line in inherited if "RPATH" in line] == [
        *("libmid.so", "libmpi.so.12"),
    ]
    assert chosen(tmp_path, replace(app, runpath=origin))[1] == "libmpi.so.12 -"


def test_libraries_of_another_machine_are_passed_over(tmp_path: Path) -> None:
    library("libmpi.so.12", machine=AARCH64).write(tmp_path / "a/libmpi.so.12")
    library("libmpi.so.12").write(tmp_path / "b/libmpi.so.12")
    env = {"LD_LIBRARY_PATH": "/a:/b"}
    app = Made(needed=("libmpi.so.12",))
    assert chosen(tmp_path, app, env) == ["libmpi.so.12 b/libmpi.so.12 LD_LIBRARY_PATH"]


def test_a_cache_of_another_format_is_none() -> None:
    assert read_cache(b"ld.so-1.7.0") == {}
    assert read_cache(cache([("a", "/a")])[:22]) == {}


def test_ldd_finds_the_same_libraries() -> None:
    program = Path(sys.executable).resolve()
    words = ["ldd", str(program)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    theirs = {line.split()[0]: line.split()[2] for line in said.splitlines() if "=> /" in line}
    found = Loader(os.environ).libraries(program, read_elf(program))
    ours = {each.name: str(each.path) for each in found if each.name in theirs}
    assert ours == theirs


# --- whose MPI it is ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("libmpi.so.12", "mpich"),
        ("libmpich.so.12", "mpich"),
        ("libmpi_gnu_123.so.12", "mpich"),
        ("libmpi.so.40", "ompi"),
        ("libmpi_ibm.so.3", "ompi"),
        ("libmpi_abi.so.1", "std"),
        ("libmpifort_abi.so.1", "std"),
        ("libmpichfort.so.12", "mpich"),
        ("libmpi_usempif08.so.40", "ompi"),
        ("libmpi.so.1", None),
        ("libmpi.so", None),
    ],
)
def test_libraries_of_mpi_are_known_by_their_names(name: str, kind: str | None) -> None:
    family = abi.family_of(name)
    assert family is not None
    assert family.abi == kind


def test_others_are_none() -> None:
    for name in ("libc.so.6", "libmpigauge_profile.so", "libmpifr.so.6", "libmpir.so.23"):
        assert abi.family_of(name) is None


def test_a_program_is_looked_at_through_what_starts_it(tmp_path: Path) -> None:
    app = Made(needed=("libmpi.so.40",), wants=("ompi_mpi_comm_world", *MPI_C))
    app.write(tmp_path / "app")
    found = look(["taskset", "-c", "0", "./app", "-v"], HERE, tmp_path)
    assert found.path == tmp_path / "app"
    assert found.abis == ("ompi",)
    assert found.calls == {"MPI_Init", "MPI_Send"}
    assert found.data == {"ompi_mpi_comm_world"}
    assert look(["env", "A=1", "sh", "-c", "true"], HERE, tmp_path).uses_mpi is False


def test_an_old_open_mpi_and_platform_mpi_have_one_name(tmp_path: Path) -> None:
    Made(needed=("libmpi.so.1",), wants=MPI_C).write(tmp_path / "platform")
    Made(needed=("libmpi.so.1",), wants=("ompi_mpi_byte",)).write(tmp_path / "open")
    assert look(["./platform"], HERE, tmp_path).unknown == ("Platform MPI (HP-MPI)",)
    assert look(["./open"], HERE, tmp_path).unknown == ("an old Open MPI (before 2)",)


def test_a_library_of_the_program_may_be_what_calls_mpi(tmp_path: Path) -> None:
    library("libsolver.so", needed=("libmpi.so.12",), wants=MPI_C).write(tmp_path / "libsolver.so")
    Made(needed=("libsolver.so",), runpath="$ORIGIN").write(tmp_path / "app")
    found = look(["./app"], HERE, tmp_path)
    assert found.abis == ("mpich",)
    assert found.mpi_libraries[0].by == str(tmp_path / "libsolver.so")


def test_scripts_are_known_by_their_first_line(tmp_path: Path) -> None:
    for name, text in (("run", "#!/bin/sh\n./app\n"), ("data", "1 2 3\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    assert look(["./run"], HERE, tmp_path).kind == "script"
    assert look(["./data"], HERE, tmp_path).kind == "other"


def python_with(tmp_path: Path, *modules: tuple[str, str]) -> dict[str, str]:
    """An environment in which Python finds an mpi4py with modules for these libraries."""
    package = tmp_path / "site" / "mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name, needs in modules:
        Made(needed=(needs,), interpreter="", wants=MPI_C).write(package / name)
    return {**os.environ, "PYTHONPATH": str(tmp_path / "site")}


def test_python_calls_mpi_through_the_module_of_mpi4py(tmp_path: Path) -> None:
    modules = (("MPI.mpich.so", "libmpi.so.12"), ("MPI.openmpi.so", "libmpi.so.40"))
    env = python_with(tmp_path, *modules)
    library("libmpi.so.40").write(tmp_path / "libmpi.so.40")
    found = look([sys.executable, "x.py"], {**env, "LD_LIBRARY_PATH": str(tmp_path)}, tmp_path)
    assert found.kind == "python"
    assert found.abis == ("ompi",)
    (tmp_path / "run.py").write_text(f"#!{sys.executable}\nimport mpi4py\n")
    (tmp_path / "run.py").chmod(0o755)
    assert look(["./run.py"], env, tmp_path).module is not None


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("./none", "there is no program ./none"),
        ("app", "there is no program 'app' on PATH; write ./app"),
        ("./locked", "has not the permission"),
        ("./folder", "is a folder"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path: Path, word: str, why: str) -> None:
    for name in ("app", "locked"):
        Made().write(tmp_path / name)
    (tmp_path / "locked").chmod(0o644)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=why):
        look([word], {"PATH": "/nowhere"}, tmp_path)


# --- which MPIs suit it ---------------------------------------------------------------------------
def installed(mpi: Mpi, tmp_path: Path, *, name: str, offers: tuple[str, ...]) -> Mpi:
    path = library(name, offers=offers).write(tmp_path / mpi.name / "lib" / name)
    return replace(mpi, library=path, prefix=tmp_path / mpi.name)


def test_an_mpi_of_the_same_abi_runs_it_directly(tmp_path: Path) -> None:
    Made(needed=("libmpi.so.12",), wants=MPI_C).write(tmp_path / "app")
    found = look(["./app"], HERE, tmp_path)
    mpich = installed(MPICH, tmp_path, name="libmpi.so.12", offers=MPI_C)
    openmpi = installed(OPENMPI5, tmp_path, name="libmpi.so.40", offers=MPI_C)
    assert suits(found, mpich).directly
    other = suits(found, openmpi)
    assert (other.directly, other.translated, other.runs) == (False, True, True)
    assert other.ways == ("by a translation from MPICH's ABI to Open MPI's ABI",)


def test_what_is_lacking_is_named(tmp_path: Path) -> None:
    mpich = installed(MPICH, tmp_path, name="libmpi.so.12", offers=MPI_C)
    Made(needed=("libmpi.so.12",), wants=(*MPI_C, "MPI_Send_c", "MPIX_Threadcomm_init")).write(
        tmp_path / "app"
    )
    found = look(["./app"], HERE, tmp_path)
    assert suits(found, mpich).directly
    (way,) = suits(found, mpich).ways
    assert way.startswith("it lacks 2 functions of MPI, and the program ends where it calls one: ")
    assert way.endswith("MPIX_Threadcomm_init, MPI_Send_c")
    assert hindrances(found) == ("it calls what only some MPIs have: MPIX_Threadcomm_init",)


def test_another_name_of_the_same_abi_is_said(tmp_path: Path) -> None:
    mpich = installed(MPICH, tmp_path, name="libmpi.so.12", offers=MPI_C)
    Made(needed=("libmpich.so.12",), wants=MPI_C).write(tmp_path / "app")
    one = suits(look(["./app"], HERE, tmp_path), mpich)
    assert one.directly
    assert one.ways == ("under the name libmpich.so.12, which its libmpi.so.12 has not",)


def test_fortran_needs_a_layer_of_its_own(tmp_path: Path) -> None:
    openmpi = installed(OPENMPI5, tmp_path, name="libmpi.so.40", offers=MPI_C)
    needed = ("libmpi_mpifh.so.40", "libmpi.so.40")
    Made(needed=needed, wants=("mpi_init_",)).write(tmp_path / "app")
    found = look(["./app"], HERE, tmp_path)
    why = "it has no libmpi_mpifh.so.40, the layer for Fortran"
    one = suits(found, openmpi)
    assert (one.directly, one.translated) == (False, True)
    assert one.ways == (f"by a translation, as {why}",)
    component = openmpi.library.parent / "openmpi/mca_pml_ob1.so"
    component.parent.mkdir()
    component.touch()
    two = suits(found, openmpi)
    assert not two.runs
    assert two.ways == (f"{why}, and components of its own, which would take another for theirs",)


def test_a_layer_for_fortran_that_no_translation_has(tmp_path: Path) -> None:
    mpich = installed(MPICH, tmp_path, name="libmpi.so.12", offers=MPI_C)
    needed = ("libmpifort_of_somebody.so.12", "libmpi.so.12")
    Made(needed=needed, wants=(*MPI_C, "mpi_send_")).write(tmp_path / "app")
    one = suits(look(["./app"], HERE, tmp_path), mpich)
    assert not one.runs
    assert one.ways == ("it has no libmpifort_of_somebody.so.12, the layer for Fortran",)


def test_buffers_of_mpi_f08_are_taken_by_a_layer_of_the_same_compiler(tmp_path: Path) -> None:
    """Array descriptors differ between compilers; the program's own layer stays where it can."""
    mpich = installed(MPICH, tmp_path, name="libmpi.so.12", offers=MPI_C)
    layer = ("mpi_init_f08_", "mpi_send_f08ts_")
    inside = ("__I_MPI_fast_memcpy",)
    Made(offers=(*layer, *inside), interpreter="").write(mpich.library.parent / "libmpifort.so.12")
    own = tmp_path / "own"
    own.mkdir()
    wants = (*MPI_C, *layer, "_gfortran_set_args")
    needed = ("libmpichfort.so.12", "libmpich.so.12")
    Made(needed=needed, wants=wants, runpath=str(own)).write(tmp_path / "app")
    refused = suits(look(["./app"], HERE, tmp_path), mpich)
    assert not refused.directly
    why = "its layer for Fortran takes buffers of mpi_f08 in the form of another compiler"
    assert refused.ways == (f"by a translation, as {why}",)
    imports = (*MPI_C[:1], "PMPIX_Delete_error_code")
    Made(offers=layer, wants=imports, interpreter="").write(own / "libmpichfort.so.12")
    kept = suits(look(["./app"], HERE, tmp_path), mpich)
    assert kept.directly
    assert kept.layers == (own / "libmpichfort.so.12",)
    assert "below the program's own libmpichfort.so.12, the layer for Fortran" in kept.ways


def test_a_layer_for_fortran_that_lacks_something_is_not_taken(tmp_path: Path) -> None:
    """Intel MPI's knows other names of mpi_f08 than MPICH's."""
    mpich = installed(MPICH, tmp_path, name="libmpi.so.12", offers=MPI_C)
    layer = ("mpi_init_f08_", "mpi_send_f08ts_")
    Made(offers=layer, interpreter="").write(mpich.library.parent / "libmpifort.so.12")
    copy = "__mpi_f08_callbacks_MOD_mpi_comm_dup_fn"
    wants = (*MPI_C, *layer, "mpi_send_f08ts_large_", copy)
    Made(needed=("libmpichfort.so.12", "libmpich.so.12"), wants=wants).write(tmp_path / "app")
    one = suits(look(["./app"], HERE, tmp_path), mpich)
    assert (one.directly, one.translated) == (False, True)
    assert one.ways == (
        f"by a translation, as its layer for Fortran lacks {copy}, mpi_send_f08ts_large_",
    )


def test_what_stands_in_the_way_is_said(tmp_path: Path) -> None:
    static = Made(dynamic=False, interpreter="").write(tmp_path / "static")
    part = Made(needed=("libc.so.6",), linked=("MPI_Init",)).write(tmp_path / "part")
    two = Made(needed=("libmpi.so.12", "libmpi.so.40")).write(tmp_path / "two")
    bound = Made(needed=("libmpi.so.12",), rpath="/opt/mpi").write(tmp_path / "bound")
    needs = ("libmpi.so.12", "libgfortran.so.77")
    fortran = Made(needed=needs).write(tmp_path / "fortran")
    paths = (static, part, two, bound, fortran)
    said = {path.name: hindrances(look([str(path)], HERE)) for path in paths}
    rpath = "it has an RPATH (/opt/mpi), which goes before LD_LIBRARY_PATH"
    assert said == {
        "static": ("it is statically linked: nothing can be loaded before it",),
        "part": (
            "its MPI is a part of the program itself (statically linked): no other can be taken",
        ),
        "two": ("it loads two MPIs: MPICH's ABI and Open MPI's ABI",),
        "bound": (f"{rpath}; `mpigauge exec` goes before both",),
        "fortran": (
            "it needs libgfortran.so.77, the runtime of its Fortran compiler, which is not here",
        ),
    }


# --- mpigauge doctor --binary --------------------------------------------------------------------
def test_the_doctor_tells_what_a_program_is_to_mpi(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Made(needed=("libmpi.so.1", "libgone.so.3"), wants=MPI_C).write(tmp_path / "app")
    assert run(["doctor", "--binary", "./app"]) == 1
    said = capsys.readouterr().out
    assert "made for Platform MPI (HP-MPI) (libmpi.so.1)" in said
    assert "libmpi.so.1: it is found nowhere here" in said
    assert "not found   libgone.so.3 (for app)" in said
    assert "the program is for Platform MPI (HP-MPI), whose ABI" in said or "MPI  " not in said
    assert run(["doctor", "--binary", "/bin/sh", "--json"]) == 0
    assert '"made_for": []' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--binary", "./none"], "there is no program ./none"),
        (["--binary", "./app", "clock"], "give one of them"),
        (["--binary", "./app", "--hosts", "a"], "--binary is for one machine"),
    ],
)
def test_the_doctor_refuses_what_is_no_program(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", *words]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("form", ["HH", "Q"])
@pytest.mark.parametrize("value", [0, 1, 0xFFFF])
@pytest.mark.parametrize("place", [32, 40, 54, 56, 58, 60])
def test_no_number_of_a_header_stops_the_reader(place: int, value: int, form: str) -> None:
    """A table of entries without length, at the end of everything, of far too many."""
    data = bytearray(Made(needed=("libmpi.so.12",), wants=("MPI_Init",)).content())
    numbers = (value, value) if form == "HH" else (value << 48 | value,)
    struct.pack_into(f"<{form}", data, place, *numbers)
    with suppress(DamagedError):
        assert parse(bytes(data)).machine


def test_tags_that_are_missing_are_damage() -> None:
    content = Made(needed=("libmpi.so.12",), wants=("MPI_Init",)).content()
    strtab = content.rindex(struct.pack("<Q", 5))
    with pytest.raises(DamagedError, match="damaged"):
        parse(content[:strtab] + struct.pack("<Q", 99) + content[strtab + 8 :])
