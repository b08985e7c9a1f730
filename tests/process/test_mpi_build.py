# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Building kernels: once, by one of many, with clear words when it cannot be done.

cmake is a script here that counts how often it is called and makes what a build makes.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpigauge.model.cards import Cards
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.model.stored_cards import FILE
from mpigauge.site.builds import cxx
from mpigauge.site.builds import folder as build_folder
from mpigauge.site.builds import progress as build_progress
from mpigauge.site.mpi import find, kernels, without_build
from mpigauge.site.mpi import make as build
from tests import mpi_fakes as fake

CMAKE = """#!/bin/sh
echo "$@" >>"$CALLS"
case "$1" in
-S) mkdir -p "$4" ;;
--build)
    echo "[1/4] Building" && echo "[3/4] Building"
    sleep 0.3
    made=$2
    [ "$4" = all ] || made=$2/$4
    mkdir -p "$made"
    touch "$2/mpigauge-kernel" "$made/mpigauge-kernel.mpich.so"
    cp "$CARDS/$4.json" "$made/cards.json" ;;
esac
"""


@pytest.fixture
def mpi(tmp_path: Path) -> Mpi:
    return find(str(fake.mpich(tmp_path / "site")))


@pytest.fixture
def calls(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the cmake of this test writes down its calls."""
    fake.program(tmp_path / "bin" / "cmake", CMAKE)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("CARDS", str(tmp_path / "cards"))
    write_cards(tmp_path / "cards" / "all.json", ["PingPong", "Bcast", "Gather"])
    write_cards(tmp_path / "cards" / "first.json", ["PingPong", "Bcast"])
    monkeypatch.setenv("MPIGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    assert mpi.prefix.exists()
    return tmp_path / "calls"


def write_cards(path: Path, names: list[str]) -> None:
    """Of those benchmarks of MPI1, as the build of the kernels writes them."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    chosen = [c for c in known["benchmarks"] if c["suite"] == "MPI1" and c["name"] in names]
    assert len(chosen) == len(names)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(known | {"benchmarks": chosen}), encoding="utf-8")


def hide(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = shutil.which
    monkeypatch.setattr(shutil, "which", lambda word: None if word == name else original(word))


def test_the_second_time_nothing_is_built(mpi: Mpi, calls: Path) -> None:
    told: list[str] = []
    first = kernels(mpi, told.append)
    assert first == kernels(mpi, told.append)
    assert told == ["building the kernels for mpich 5.0.2, once"]
    assert first.plugin.name == "mpigauge-kernel.mpich.so"
    assert all(path.exists() for path in (first.executable, first.plugin, first.cards))
    configure, make = calls.read_text().splitlines()
    assert "-DMPIGAUGE_ABI=mpich " in configure
    (lent,) = re.findall(r"-DMPIGAUGE_MPI_INCLUDE=(\S+)", configure)
    assert mpi.include is not None
    assert Path(lent).resolve() == mpi.include.resolve()
    assert make.startswith("--build ")


def test_a_build_reports_its_progress(
    mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not calls.exists()
    monkeypatch.setattr(build_progress, "FIRST_S", 0.0)
    monkeypatch.setattr(build_progress.BuildProgress, "interval_s", 0.01)
    told: list[str] = []
    kernels(mpi, told.append)
    assert told[1].startswith("building the kernels: 3 of 4 steps, about ")


def test_a_dry_run_builds_nothing(mpi: Mpi, calls: Path) -> None:
    assert without_build(mpi) is None
    assert not calls.exists()
    kernels(mpi, enough=["PingPong"])
    assert without_build(mpi) is None, "these are not all of them"
    built = kernels(mpi)
    assert without_build(mpi) == built


def test_other_headers_or_flags_make_another_build(
    mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mpi.include is not None
    first = kernels(mpi)
    monkeypatch.setenv("CXXFLAGS", "-O3")
    second = kernels(mpi)
    (mpi.include / "mpi.h").write_text("#define MPICH_NAME 5\n")
    third = kernels(mpi)
    assert len({first.cards, second.cards, third.cards}) == 3
    assert len(calls.read_text().splitlines()) == 6


def test_a_compiler_behind_ccache_is_asked_again_when_it_changes(
    mpi: Mpi, calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ccache stands on PATH under the name of a compiler, and starts the next of that name."""
    asked = tmp_path / "asked"
    real = tmp_path / "real" / "cc-of-test"
    for program in (tmp_path / "masked" / real.name, real):
        program.parent.mkdir()
        program.write_bytes(b"no script")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/masked:{tmp_path}/real:{os.environ['PATH']}")
    monkeypatch.setattr(cxx, "_asked_version", lambda _: asked.read_text())
    monkeypatch.setenv("CXX", real.name)
    asked.write_text("version 12")
    first = kernels(mpi)
    asked.write_text("version 13")
    assert kernels(mpi) == first
    real.write_bytes(b"another")
    assert kernels(mpi) != first
    assert calls.exists()


def test_kernels_that_were_not_used_for_long_are_removed_after_a_build(
    mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {}
    for flags, days in (("-O1", 40), ("-O2", 40), ("-O3", 2)):
        monkeypatch.setenv("CXXFLAGS", flags)
        folders[flags] = kernels(mpi).cards.parent
        at = time.time() - days * 86400
        os.utime(folders[flags], (at, at))
    monkeypatch.setenv("CXXFLAGS", "-O2")
    kernels(mpi)
    monkeypatch.setenv("CXXFLAGS", "-Os")
    kernels(mpi)
    assert [flags for flags, folder in folders.items() if folder.exists()] == ["-O2", "-O3"]
    assert not folders["-O1"].with_name(f"{folders['-O1'].name}.log").exists()
    assert calls.exists()


def test_two_at_once_build_once(mpi: Mpi, calls: Path) -> None:
    script = f"from mpigauge.site.mpi import find, kernels; kernels(find({str(mpi.prefix)!r}))"
    both = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(calls.read_text().splitlines()) == 2


def test_what_a_killed_build_left_does_no_harm(mpi: Mpi, calls: Path) -> None:
    folder = kernels(mpi).cards.parent
    left = folder.parent / f".new-{folder.name}-x"
    left.mkdir()
    (folder / "cards.json").unlink()
    assert kernels(mpi).cards.exists()
    assert not left.exists()
    assert len(calls.read_text().splitlines()) == 4


def names_in(built: Kernels) -> set[str]:
    return {card.name for card in Cards.load(built.cards)}


def targets(calls: Path) -> list[str]:
    """What cmake was told to build, in this order."""
    return re.findall(r"--target (\w+)", calls.read_text())


def test_the_first_kernels_do_for_who_needs_no_others(mpi: Mpi, calls: Path) -> None:
    told: list[str] = []
    first = kernels(mpi, told.append, enough=["Bcast", "MPI1:PingPong"])
    assert first == kernels(mpi, told.append, enough=["Bcast"])
    assert names_in(first) == {"PingPong", "Bcast"}
    assert first.plugin.name == "mpigauge-kernel.mpich.so"
    assert all(path.exists() for path in (first.executable, first.plugin))
    assert told == ["building the first kernels for mpich 5.0.2, once"]
    assert targets(calls) == ["first"]


def test_others_are_built_in_the_same_folder_when_they_are_asked_for(mpi: Mpi, calls: Path) -> None:
    first = kernels(mpi, enough=["Bcast"])
    folder = folder_of_last_build(calls)
    everything = kernels(mpi)
    assert folder_of_last_build(calls) == folder
    assert names_in(everything) == {"PingPong", "Bcast", "Gather"}
    assert names_in(first) == {"PingPong", "Bcast"}
    assert kernels(mpi, enough=["Bcast"]) == everything
    assert targets(calls) == ["first", "all"]


def test_no_benchmark_is_missing_because_the_first_kernels_lack_it(mpi: Mpi, calls: Path) -> None:
    assert "Gather" in names_in(kernels(mpi, enough=["Bcast", "Gather"]))
    assert targets(calls) == ["first", "all"]


def test_the_first_kernels_are_not_built_where_all_are(mpi: Mpi, calls: Path) -> None:
    assert kernels(mpi) == kernels(mpi, enough=["Bcast"])
    assert targets(calls) == ["all"]


def test_first_kernels_follow_their_sources(mpi: Mpi, calls: Path, tree: Path) -> None:
    before = kernels(mpi, enough=["Bcast"])
    (tree / "kernels" / "a.cpp").write_text("edited\n")
    assert kernels(mpi, enough=["Bcast"]) != before
    assert targets(calls) == ["first", "first"]


def test_first_kernels_and_all_at_once_are_built_once_each(mpi: Mpi, calls: Path) -> None:
    script = f"from mpigauge.site.mpi import find, kernels; mpi = find({str(mpi.prefix)!r})\n"
    asked = ["kernels(mpi)", "kernels(mpi, enough=['Bcast'])"] * 2
    started = [subprocess.Popen([sys.executable, "-c", script + each]) for each in asked]
    assert [process.wait() for process in started] == [0] * 4
    assert targets(calls).count("all") == 1
    assert targets(calls).count("first") <= 1


def test_a_node_without_a_compiler_uses_first_kernels_for_no_more_than_they_have(
    mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kernels(mpi, enough=["Bcast"])
    hide("cmake", monkeypatch)
    assert kernels(mpi, enough=["Bcast"]) == first
    for enough in ([], ["Gather"]):
        with pytest.raises(UserError, match="no cmake found"):
            kernels(mpi, enough=enough)
    assert calls.exists()


def test_a_failed_build_names_its_log(mpi: Mpi, calls: Path, tmp_path: Path) -> None:
    fake.program(tmp_path / "bin" / "cmake", "#!/bin/sh\necho 'no such wonder'\nexit 1\n")
    with pytest.raises(UserError, match=r"the compiler's words are in (\S+\.log)") as error:
        kernels(mpi)
    assert "no such wonder" in Path(str(error.value).rsplit(" ", 1)[1]).read_text()
    assert not calls.exists()


def test_a_build_that_makes_nothing(mpi: Mpi, calls: Path, tmp_path: Path) -> None:
    fake.program(tmp_path / "bin" / "cmake", '#!/bin/sh\n[ "$1" = --build ] || mkdir -p "$4"\n')
    with pytest.raises(UserError, match="made no mpigauge-kernel; see"):
        kernels(mpi)
    assert not calls.exists()


def test_no_compiler(mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/no/such/compiler")
    with pytest.raises(
        UserError, match=r"no C\+\+ compiler found, .*`apt-get install g\+\+ cmake`"
    ):
        kernels(mpi)
    hide("cmake", monkeypatch)
    with pytest.raises(UserError, match=r"no C\+\+ compiler and no cmake found"):
        kernels(mpi)
    assert not calls.exists()


def test_a_node_without_a_compiler_uses_what_was_built(
    mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kernels(mpi)
    hide("cmake", monkeypatch)
    assert kernels(mpi) == first
    assert calls.exists()


def test_headers_are_lent_by_an_mpi_of_the_same_abi(mpi: Mpi, calls: Path, tmp_path: Path) -> None:
    assert mpi.include is not None
    (mpi.include / "mpi.h").unlink()
    bare = find(str(mpi.prefix))
    assert bare.include is None
    with pytest.raises(UserError, match=r"brings no mpi.h .*run `mpigauge mpi install mpich`"):
        kernels(bare)
    lender = fake.mpich(tmp_path / "home" / "mpi" / "mpich-1")
    assert build.headers(bare) == lender / "include"
    assert not calls.exists()


def test_all_that_we_installed_share_the_newest_headers(calls: Path, tmp_path: Path) -> None:
    home = tmp_path / "home" / "mpi"
    older, newer = (fake.mpich(home / f"mpich-{version}") for version in ("4.3.2", "5.0.2"))
    assert build.headers(find("mpich==4.3.2")) == newer / "include"
    assert build.headers(find("mpich==5.0.2")) == newer / "include"
    shutil.rmtree(newer)
    assert build.headers(find("mpich==4.3.2")) == older / "include"
    assert not calls.exists()


def test_headers_of_a_newer_mpi_are_taken_before_old_ones(
    mpi: Mpi, calls: Path, tmp_path: Path
) -> None:
    assert mpi.include is not None
    (mpi.include / "mpi.h").write_text("#define MPICH_NAME 3\n#define MPI_VERSION   2\n")
    assert build.headers(mpi) == mpi.include
    lender = fake.mpich(tmp_path / "home" / "mpi" / "mpich-1")
    assert build.headers(mpi) == lender / "include"
    (mpi.include / "mpi.h").write_text("#define MPI_VERSION 3\ntypedef int MPI_Session;\n")
    assert build.headers(mpi) == mpi.include
    assert not calls.exists()


def test_a_read_only_cache(mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_CACHE", "/proc/none")
    with pytest.raises(UserError, match="set MPIGAUGE_CACHE to a folder that can be written"):
        kernels(mpi)
    assert not calls.exists()


# --- the folder in which is compiled -------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources of kernels that can be edited: two files and what configures them."""
    tree = tmp_path / "tree"
    for name in ("CMakeLists.txt", "kernels/a.cpp", "kernels/core/b.cpp"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(f"{name}\n")
    monkeypatch.setattr(build, "PACKAGE", tree / "src" / "mpigauge")
    return tree


def folder_of_last_build(calls: Path) -> Path:
    return Path(calls.read_text().splitlines()[-1].split()[1]).parents[1]


def test_an_edit_goes_on_in_the_same_folder(mpi: Mpi, calls: Path, tree: Path) -> None:
    first = kernels(mpi)
    folder = folder_of_last_build(calls)
    (folder / build_folder.MADE / "object.o").touch()
    (tree / "kernels" / "a.cpp").write_text("edited\n")
    second = kernels(mpi)
    assert folder_of_last_build(calls) == folder
    assert (folder / build_folder.MADE / "object.o").exists()
    assert (folder / "kernels" / "a.cpp").read_text() == "edited\n"
    assert second.cards != first.cards
    assert first.cards.exists()


def test_precompiled_headers_go_when_a_header_changes(mpi: Mpi, calls: Path, tree: Path) -> None:
    """Those of older headers would be taken by the preprocessor, by which ccache looks."""
    kernels(mpi)
    precompiled = folder_of_last_build(calls) / build_folder.MADE / "pch.gch"
    precompiled.touch()
    (tree / "kernels" / "a.cpp").write_text("edited\n")
    kernels(mpi)
    assert precompiled.exists()
    (tree / "kernels" / "a.hpp").write_text("new\n")
    kernels(mpi)
    assert not precompiled.exists()


def test_only_the_content_of_sources_counts(tmp_path: Path) -> None:
    """A tree that is put back to an older state has files that look older than their objects."""
    sources = {"a": b"1", "b/c": b"2", "b/d": b"3"}
    build_folder.mirror(sources, tmp_path)
    for name in sources:
        os.utime(tmp_path / name, (1000, 1000))
    assert build_folder.mirror({"a": b"1", "b/c": b"changed"}, tmp_path) == ["b/c"]
    assert (tmp_path / "a").stat().st_mtime == 1000
    assert (tmp_path / "b" / "c").stat().st_mtime > 1000
    assert (tmp_path / "b" / "c").read_bytes() == b"changed"
    assert not (tmp_path / "b" / "d").exists()


def test_what_is_edited_during_a_build_is_not_in_it(
    mpi: Mpi, calls: Path, tree: Path, tmp_path: Path
) -> None:
    edit = f"echo later >{tree}/kernels/a.cpp\n"
    fake.program(tmp_path / "bin" / "cmake", CMAKE.replace("case", edit + "case", 1))
    first = kernels(mpi)
    source = folder_of_last_build(calls) / "kernels" / "a.cpp"
    assert source.read_text() == "kernels/a.cpp\n"
    assert kernels(mpi).cards != first.cards
    assert source.read_text() == "later\n"


def test_a_build_that_was_killed_begins_anew(mpi: Mpi, calls: Path, tree: Path) -> None:
    kernels(mpi)
    folder = folder_of_last_build(calls)
    half = folder / build_folder.MADE / "half.o"
    half.touch()
    (folder / "unfinished").touch()
    (tree / "kernels" / "a.cpp").write_text("edited\n")
    kernels(mpi)
    assert folder_of_last_build(calls) == folder
    assert not half.exists()
    assert not (folder / "unfinished").exists()


def test_a_failed_build_is_gone_on_with_and_names_the_sources_in_their_place(
    mpi: Mpi, calls: Path, tree: Path, tmp_path: Path
) -> None:
    fails = '--build) touch "$2/good.o"; echo "${2%build/kernels}kernels/a.cpp:1: oh"; exit 1 ;;\n'
    fake.program(tmp_path / "bin" / "cmake", CMAKE.replace("--build)", fails + "--unused)"))
    with pytest.raises(UserError, match="building the kernels failed") as error:
        kernels(mpi)
    folder = folder_of_last_build(calls)
    log = Path(str(error.value).rsplit(" ", 1)[1])
    assert log.read_text() == f"{tree}/kernels/a.cpp:1: oh\n"
    fake.program(tmp_path / "bin" / "cmake", CMAKE)
    kernels(mpi)
    assert folder_of_last_build(calls) == folder
    assert (folder / build_folder.MADE / "good.o").exists()


def test_other_flags_and_other_places_have_folders_of_their_own(
    mpi: Mpi, calls: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = []
    for change in ("", "CXXFLAGS", "CMAKE_CXX_COMPILER_LAUNCHER", "place"):
        if change == "place":
            shutil.copytree(tree, tmp_path / "other")
            (tmp_path / "other" / "kernels" / "a.cpp").write_text("other\n")
            monkeypatch.setattr(build, "PACKAGE", tmp_path / "other" / "src" / "mpigauge")
        elif change:
            monkeypatch.setenv(change, "env")
            (tree / "kernels" / "a.cpp").write_text(f"{change}\n")
        kernels(mpi)
        places.append(folder_of_last_build(calls))
    assert len(set(places)) == 4


def test_folders_that_nobody_builds_in_any_more_are_removed(
    mpi: Mpi, calls: Path, tree: Path, tmp_path: Path
) -> None:
    kernels(mpi)
    here = folder_of_last_build(calls)
    day = 86400
    ages = {"gone-2": 2 * day, "gone-0": 0, "there-2": 2 * day, "there-40": 40 * day}
    ages["gone-2-busy"] = 2 * day
    for name, age in ages.items():
        note = here.parent / name / "place"
        note.parent.mkdir()
        note.write_text(str(tmp_path if name.startswith("there") else tmp_path / "gone"))
        at = time.time() - age
        os.utime(note, (at, at))
    with (here.parent / "gone-2-busy.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (tree / "kernels" / "a.cpp").write_text("edited\n")
        kernels(mpi)
    left = {folder.name for folder in here.parent.iterdir() if folder.is_dir()}
    assert left == {here.name, "gone-0", "there-2", "gone-2-busy"}


def test_without_locks_everybody_builds_apart(
    mpi: Mpi,
    calls: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    made = kernels(mpi)
    assert made.cards.exists()
    assert "no lock on" in capfd.readouterr().err
    assert not folder_of_last_build(calls).exists()
    assert folder_of_last_build(calls).name.startswith(".new-")
