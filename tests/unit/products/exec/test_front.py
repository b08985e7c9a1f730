# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launchers under the names of others: whose words they are told, and what they make of them."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import mpigauge
from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.products.exec.front.inner import behind, translated, with_files_in_memory
from mpigauge.products.exec.front.reading import read_any
from mpigauge.products.exec.front.writing import MARK, names, write_fronts
from mpigauge.site.launch import Command
from mpigauge.site.mpi.programs.witness import FOLDER, witness
from tests.elf_files import Made
from tests.unit.site.launch.test_launch import INTEL, OPENMPI5

MPI_C = ("MPI_Init", "MPI_Send")
HERE = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "3"}
NEEDS = {"openmpi": "libmpi.so.40", "hydra": "libmpi.so.12", "platform": "libmpi.so.1"}


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of each MPI in the folder that we are in, called by whose words its scripts use."""
    monkeypatch.chdir(tmp_path)
    for name, needed in NEEDS.items():
        Made(needed=(needed,), wants=MPI_C).write(tmp_path / name)
    Made(needed=("libc.so.6",)).write(tmp_path / "plain")


def here_with(mpi: Mpi, name: str, tmp_path: Path) -> Mpi:
    prefix = tmp_path / f"opt-{mpi.name}"
    path = Made(soname=name, interpreter="", offers=MPI_C).write(prefix / "lib" / name)
    return replace(mpi, library=path, prefix=prefix, env={})


@pytest.fixture
def intel(tmp_path: Path) -> Mpi:
    return here_with(INTEL, "libmpi.so.12", tmp_path)


@pytest.fixture
def openmpi(tmp_path: Path) -> Mpi:
    return here_with(OPENMPI5, "libmpi.so.40", tmp_path)


# --- whose words they are -------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "dialect"),
    [
        ("mpirun -np 2 ./openmpi", "openmpi"),
        ("mpirun -np 2 ./hydra", "hydra"),
        ("mpirun -np 2 ./platform", "platform"),
        ("mpirun -np 2 -x A=1 ./hydra", "openmpi"),
        ("mpirun -np 2 -genv A 1 ./openmpi", "hydra"),
        ("mpirun -np 2 -e A=1 -cpu_bind=rank ./hydra", "platform"),
        ("mpirun -np 2 -IBV ./openmpi", "platform"),
        ("orterun -np 2 ./hydra", "openmpi"),
        ("mpiexec.hydra -np 2 ./openmpi", "hydra"),
        ("mpirun -f hosts -np 2 ./hydra", "hydra"),
        ("mpirun -f apps", "platform"),
        ("mpirun -np 2 ./gone", "openmpi"),
    ],
)
def test_words_are_those_of_whoever_can_read_them_best(line: str, dialect: str) -> None:
    files = {"hosts": "a\nb\n", "apps": "-np 2 ./platform\n"}
    assert read_any(line.split(), HERE, files=files.__getitem__).dialect == dialect


def test_the_user_may_say_whose_words_they_are() -> None:
    assert read_any(["mpirun", "-np", "2", "./openmpi"], HERE, "hydra").dialect == "hydra"
    with pytest.raises(UserError, match="Open MPI's mpirun has no option '-genv'"):
        read_any(["mpirun", "-genv", "A", "1", "./hydra"], HERE, "openmpi")
    with pytest.raises(UserError, match="nor can it be read as words of Hydra or Platform MPI"):
        read_any(["mpirun", "-nonsense", "./hydra"], HERE)


# --- what becomes of them -------------------------------------------------------------------------
def said(words: Sequence[str]) -> str:
    """Words without what the witness is told and where its library is."""
    kept = [word.replace(str(witness()), "WITNESS") for word in words]
    while told := [at for at, word in enumerate(kept) if word.startswith(FOLDER)]:
        values = 0 if kept[told[0] - 1] in ("-x", "-u") else 1
        del kept[told[0] - 1 : told[0] + 1 + values]
    return " ".join(kept)


def made(line: str, mpi: Mpi, *, strict: bool = False) -> str:
    found = translated(line.split(), mpi, "", strict, HERE)
    return said(found.words)


def test_a_line_of_one_mpi_starts_on_another(
    intel: Mpi, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "mpirun -np 4 -hostlist a:2,b:2 -e A=1 -e OMP_NUM_THREADS -prot -IBV ./hydra in.txt"
    assert made(line, intel) == (
        f"/m/bin/mpiexec -genv A 1 -genv I_MPI_PIN 0 -genv LD_PRELOAD WITNESS:{intel.library}"
        " -genv OMP_NUM_THREADS 3 -n 4 -hosts a,b -ppn 2 ./hydra in.txt"
    )
    assert capsys.readouterr().err == (
        "mpigauge: mpirun: intel 2021.18.1 has no counterpart of -prot, -IBV; started without\n"
    )


def test_several_programs_each_come_to_their_mpi(
    openmpi: Mpi, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "mpiexec.hydra -n 1 -env A 1 -wdir . ./openmpi : -n 2 ./openmpi x : -n 1 ./plain"
    preload = f"-x LD_PRELOAD=WITNESS:{openmpi.library}"
    assert made(line, openmpi) == (
        f"/m/bin/mpiexec --bind-to none -n 1 -x A=1 {preload} --wdir . ./openmpi"
        f" : -n 2 {preload} env -u A ./openmpi x : -n 1 env -u A -u LD_PRELOAD ./plain"
    )
    assert capsys.readouterr().err == ""


def test_a_variable_of_one_program_is_not_anothers(openmpi: Mpi, intel: Mpi) -> None:
    """Open MPI's launcher hands it on, so the next program is told what it would find here."""
    line = "mpiexec.hydra -n 1 -env OMP_NUM_THREADS 1 ./{0} : -n 1 ./{0}"
    assert made(line.format("openmpi"), openmpi).count("OMP_NUM_THREADS=3") == 1
    assert "OMP_NUM_THREADS 3" not in made(line.format("hydra"), intel)


def test_programs_find_no_more_than_is_listed(intel: Mpi) -> None:
    here = {**HERE, "HOME": "/root", "A": "1", "AB": "2", "B": "3", "PMI_X": "4"}
    line = "mpiexec.hydra -n 1 -genvlist {} ./hydra : -n 1 ./hydra"
    words = " ".join(translated(line.format("AB").split(), intel, "", True, here).words)
    assert words.count("env -u A -u B -u OMP_NUM_THREADS ./hydra") == 2
    alone = "mpirun -n 1 -envnone -env B 7 ./hydra"
    words = " ".join(translated(alone.split(), intel, "hydra", True, here).words)
    assert words.endswith("env -u A -u AB -u OMP_NUM_THREADS ./hydra")
    exported = "srun -n 1 --export=A* ./hydra"
    words = " ".join(translated(exported.split(), intel, "srun", True, here).words)
    assert words.endswith("./hydra")
    assert "-u A " not in words


def test_what_has_no_counterpart_can_be_refused(intel: Mpi) -> None:
    with pytest.raises(UserError, match="no counterpart of --report-bindings"):
        made("orterun -np 2 --report-bindings ./hydra", intel, strict=True)


def test_a_program_that_cannot_run_is_refused(intel: Mpi) -> None:
    with pytest.raises(UserError, match=r"cannot run ./platform: the program is for Platform MPI"):
        made("mpirun -np 2 ./platform", intel)
    with pytest.raises(UserError, match="has no number of ranks"):
        made("mpirun ./hydra", intel)


def test_a_profiled_program_is_checked_by_the_profiler_alone(intel: Mpi) -> None:
    """The calls of another library of ours would be counted as those of the program."""
    words = ["mpirun", "-np", "2", "./hydra"]
    preload = "/m/libmpigauge_profile.so:/m/theirs.so"
    here = {**HERE, "LD_PRELOAD": preload}
    profiled = said(translated(words, intel, "", False, here).words)
    assert f"LD_PRELOAD {preload}:{intel.library}" in profiled
    assert "WITNESS" in said(translated(words, intel, "", False, HERE).words)


def test_a_required_network_is_refused_where_there_is_none(intel: Mpi) -> None:
    with pytest.raises(UserError, match=r"mpirun: intel 2021\.18\.1 has no 'tcp' here"):
        made("mpirun -np 2 -TCP ./hydra", intel)


def test_a_program_behind_a_script_gets_the_mpi_by_its_abi(
    intel: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words name the script alone; without the ABI the message names the option."""
    (tmp_path / "wrapper.sh").write_text("#!/bin/sh\nexec ./hydra\n")
    (tmp_path / "wrapper.sh").chmod(0o755)
    words = ["mpirun", "-np", "2", "./wrapper.sh"]
    unseen = " ".join(translated(words, intel, "hydra", False, HERE).words)
    assert str(intel.library) not in unseen
    assert (
        "./wrapper.sh is a script: which MPI it takes shows when it runs; if it fails, give "
        in (told := capsys.readouterr().err)
    )
    assert "with --abi" in told
    with_abi = " ".join(translated(words, intel, "hydra", False, HERE, "mpich").words)
    assert str(intel.library) in with_abi
    assert "--abi" not in capsys.readouterr().err
    of_sight = translated(["mpirun", "-np", "2", "./hydra"], intel, "hydra", False, HERE, "ompi")
    assert str(intel.library) in " ".join(of_sight.words)


def test_places_here_become_cores(intel: Mpi, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mpirun", "-np", "1", "-cpu_bind=MAP_CPU:0", "./hydra"]
    found = translated(words, intel, "", False, HERE)
    assert "-genv I_MPI_PIN_DOMAIN [0x1]" in " ".join(found.words)
    made("mpirun -np 2 -hostlist a,b -cpu_bind=rank ./hydra", intel)
    assert "places of ranks (compact) are taken over on this host" in capsys.readouterr().err


def test_a_front_is_not_found_by_the_launcher_that_it_starts() -> None:
    env = behind(Path("/front"), {"PATH": "/front:/usr/bin:/front"})
    assert env["PATH"] == "/usr/bin"


# --- the files ------------------------------------------------------------------------------------
def test_fronts_are_written_and_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "front"
    written = write_fronts(folder, "/m/bin/mpiexec", "", False)
    assert {file.name for file in written} >= {"mpirun", "mpiexec", "orterun", "mpiexec.hydra"}
    assert "srun" not in names()
    assert MARK in (folder / "mpirun").read_text()
    assert (folder / "mpirun").stat().st_mode & 0o111
    assert write_fronts(folder, "intel", "platform", True) == written
    told = shlex.split((folder / "mpirun").read_text(), comments=True)
    assert any(each.endswith("main('intel', 'platform', True, None)") for each in told)


def test_nobodys_own_launcher_is_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mpirun").write_text("#!/bin/sh\n")
    with pytest.raises(UserError, match="is there already, and is none of ours"):
        write_fronts(tmp_path / "bin", "intel", "", False)
    assert [file.name for file in (tmp_path / "bin").iterdir()] == ["mpirun"]
    assert run(["mpi", "front", str(tmp_path / "new"), "--mpi", "intelx"]) == 2
    assert "unknown MPI 'intelx'" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_options_of_the_environment_come_before_those_of_the_line() -> None:
    """Platform MPI's launcher reads them there; other launchers know nothing of them."""
    here = {**HERE, "MPIRUN_OPTIONS": "-np 2 -e 'A=one two' -cpu_bind=rank"}
    line = read_any(["mpirun", "-np", "4", "./app"], here, "platform")
    (program,) = line.programs
    assert (program.ranks, dict(program.env.sets), line.place) == (4, {"A": "one two"}, "compact")
    assert not read_any(["mpirun", "-np", "4", "./app"], here, "openmpi").programs[0].env.sets
    applied = {**HERE, "MPIRUN_OPTIONS": "-e A=1 -e OMP_NUM_THREADS=%OMP_NUM_THREADS,2"}
    files = {"apps": "-np 1 ./first\n-np 1 -e A=2 ./second\n"}
    line = read_any(["mpirun", "-f", "apps"], applied, "platform", files.__getitem__)
    assert [dict(each.env.sets) for each in line.programs] == [
        {"A": "1", "OMP_NUM_THREADS": "3,2"}
    ] * 2
    with pytest.raises(UserError, match="MPIRUN_OPTIONS='-e \"A': no closing quotation"):
        read_any(["mpirun", "./app"], {"MPIRUN_OPTIONS": '-e "A'}, "platform")


# --- files that launchers read --------------------------------------------------------------------
def test_files_of_a_launcher_are_in_memory_that_nobody_else_can_name(tmp_path: Path) -> None:
    """The folder for temporary files is open to others, who could put links there."""
    made = Command(
        ("mpirun", "--rankfile", "a", "--more", "b"), {}, {"a": "rank 0=x slot=1\n", "b": "é\n"}
    )
    before = set(tmp_path.iterdir())
    words = with_files_in_memory(made)
    assert (words[0], words[1], words[3]) == ("mpirun", "--rankfile", "--more")
    for _ in range(2):
        read = subprocess.run(["cat", words[2], words[4]], capture_output=True, check=True)
        assert read.stdout.decode() == "rank 0=x slot=1\né\n"
    assert set(tmp_path.iterdir()) == before
    for word in (words[2], words[4]):
        os.close(int(Path(word).name))


FOR_ALL = {"/dev/shm", "/tmp"}
READS = {
    "site/launch/left_session.py",
    "site/launch/leftovers.py",
    "products/profile/launch/gather.py",
}
"""These look for what others have made there; of ours there is a folder with a random name."""


def test_no_module_names_a_folder_that_is_open_to_all() -> None:
    """Files go there under names of tempfile, in folders that only the user can enter."""
    package = Path(mpigauge.__file__).parent
    named = set()
    for path in package.rglob("*.py"):
        words = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        texts = {word.value for word in words if isinstance(word, ast.Constant)}
        if FOR_ALL & {text for text in texts if isinstance(text, str)}:
            named.add(path.relative_to(package).as_posix())
    assert named == READS
