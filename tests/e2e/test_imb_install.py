# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The programs that take the place of IMB's, started as people start them: by mpirun, no Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.runs.readers import READERS, Text
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make.imb_programs import list_text
from tests import patience
from tests.conftest import MPIS
from tests.cuda_fakes import fake
from tests.e2e.commands import last_line, mpigauge

if TYPE_CHECKING:
    from mpigauge.runs.readers.reading import Reading

pytestmark = pytest.mark.mpi

PINGPONG = ("pingpong", "-msglog", "3:5", "-iter", "100")
SHELL = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
"""A shell without modules, without Python's environment, without anything of ours."""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One installation for all MPIs that the tests have."""
    return installed(tmp_path_factory.mktemp("site") / "imb", MPIS)


def installed(folder: Path, names: list[str]) -> Path:
    for name in names:
        find(name)
    words = [word for name in names for word in ("--mpi", name)]
    done = mpigauge("imb", "install", str(folder), *words, cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    for name in names:
        assert f"{find(name).label}: {find(name).mpiexec} -n 2 {folder}/IMB-MPI1" in done.stdout
    return folder


def alone(program: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return patience.run([str(program), *words], env={**SHELL, **AS_ROOT, **env})


def two(mpi: Mpi, program: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return several(2, mpi, program, *words, **env)


def several(
    ranks: int, mpi: Mpi, program: Path, *words: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """By the mpirun of this MPI as if its module were loaded, but for libraries."""
    more = ["--oversubscribe"] if mpi.launcher == "openmpi" else []
    path = f"{mpi.prefix}/bin:{SHELL['PATH']}"
    return alone(mpi.mpiexec.with_name("mpirun"), *more, "-np", str(ranks), str(program), *words,
                 **{"PATH": path, **env})  # fmt: skip


def sizes(output: str) -> list[int]:
    """Sizes of the rows of a table of IMB's."""
    return [int(line.split()[0]) for line in output.splitlines() if re.match(r" +\d+ +\d+ ", line)]


def said(done: subprocess.CompletedProcess[str], name: str = "IMB-MPI1") -> list[str]:
    """Our own lines; a launcher may add its own about a rank that failed."""
    return [line for line in done.stderr.splitlines() if line.startswith(f"{name}: ")]


def library_of(mpi: Mpi, program: Path, **env: str) -> str:
    """Which library the dynamic loader opened."""
    done = two(mpi, program, *PINGPONG, LD_DEBUG="files", **env)
    assert done.returncode == 0, last_line(done.stderr)
    opened = re.findall(r"calling init: (\S*/libmpi\S*\.so\S*)", done.stderr + done.stdout)
    return str(Path(opened[-1]).resolve())


def test_every_launcher_starts_its_own_mpi(mpi: Mpi, folder: Path) -> None:
    done = two(mpi, folder / "IMB-MPI1", *PINGPONG)
    assert done.returncode == 0, done.stderr
    assert sizes(done.stdout) == [0, 8, 16, 32]
    assert library_of(mpi, folder / "IMB-MPI1") == str(mpi.library.resolve())


def test_every_name_is_a_suite(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir() if path.name != "mpigauge")
    assert len(names) == len(SMALL)
    for name in names:
        done = alone(folder / name, "-help")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert len(done.stdout.splitlines()) > 2


def test_without_a_launcher(folder: Path) -> None:
    done = alone(folder / "IMB-MPI1", "Reduce_local", "-msglog", "3:4", "-iter", "10")
    assert done.returncode == 0, done.stderr


def test_it_writes_nothing(folder: Path) -> None:
    def state() -> set[tuple[str, int, int]]:
        return {(str(p), p.lstat().st_mtime_ns, p.lstat().st_size) for p in folder.rglob("*")}

    before = state()
    assert two(find("mpich"), folder / "IMB-MPI1", *PINGPONG).returncode == 0
    assert state() == before


@pytest.mark.parametrize("links_too", [True, False])
def test_moved_and_copied_it_still_works(folder: Path, tmp_path: Path, links_too: bool) -> None:
    copied = tmp_path / "with blanks" / "imb"
    shutil.copytree(folder, copied, symlinks=links_too)
    moved = copied.rename(tmp_path / "moved here")
    done = two(find("mpich"), moved / "IMB-MPI1", *PINGPONG)
    assert done.returncode == 0, done.stderr
    assert sizes(done.stdout) == [0, 8, 16, 32]


def test_a_link_from_elsewhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "IMB-MPI1").symlink_to(folder / "IMB-MPI1")
    assert alone(tmp_path / "IMB-MPI1", "-help").returncode == 0


def test_the_program_alone_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "IMB-MPI1", tmp_path / "IMB-MPI1")
    done = alone(tmp_path / "IMB-MPI1")
    assert done.returncode == 2
    assert re.fullmatch(r"IMB-MPI1: there is no mpigauge/mpis.txt beside .*\n", done.stderr)


def test_libraries_of_the_user_come_first(folder: Path) -> None:
    mpich, intel = find("mpich"), find("intel")
    offered = {"LD_LIBRARY_PATH": f"/none:{intel.library.parent}"}
    assert library_of(mpich, folder / "IMB-MPI1", **offered) == str(intel.library.resolve())
    other = {"LD_LIBRARY_PATH": str(find("openmpi").library.parent)}
    assert library_of(mpich, folder / "IMB-MPI1", **other) == str(mpich.library.resolve())


def test_a_library_that_is_named_comes_before_all(folder: Path) -> None:
    mpich, intel = find("mpich"), find("intel")
    named = {"MPIGAUGE_LIBMPI": str(intel.library), "LD_LIBRARY_PATH": str(mpich.library.parent)}
    assert library_of(mpich, folder / "IMB-MPI1", **named) == str(intel.library.resolve())
    standard = {"MPIGAUGE_LIBMPI": str(find("mpich@std").library)}
    done = two(mpich, folder / "IMB-MPI1", *PINGPONG, **standard)
    assert done.returncode == 2
    (line,) = said(done)
    assert "there are no kernels for the ABI of" in line


@pytest.mark.parametrize("wrong", ["/none/libmpi.so.12", "/bin/sh", "libm.so.6"])
def test_a_named_library_that_is_none(folder: Path, wrong: str) -> None:
    done = two(find("mpich"), folder / "IMB-MPI1", *PINGPONG, MPIGAUGE_LIBMPI=wrong)
    assert done.returncode == 2
    (line,) = said(done)
    assert wrong in line


def test_a_library_of_another_launcher_makes_no_singletons(folder: Path) -> None:
    library = str(find("openmpi").library)
    done = two(find("mpich"), folder / "IMB-MPI1", *PINGPONG, MPIGAUGE_LIBMPI=library)
    assert done.returncode == 2
    (line,) = said(done)
    assert "the launcher started 2 ranks" in line
    assert "Open MPI" in line
    assert sizes(done.stdout) == []


def test_a_launcher_that_nothing_is_there_for(tmp_path: Path) -> None:
    folder = installed(tmp_path / "imb", ["mpich"])
    done = two(find("openmpi"), folder / "IMB-MPI1", *PINGPONG)
    assert done.returncode == 2
    (line,) = said(done)
    assert "found no library of an MPI that Open MPI's mpirun can start" in line
    assert "mpich 5" in line


def test_where_no_mpi_was_known_that_of_the_launcher_is_taken(
    mpi: Mpi, folder: Path, tmp_path: Path
) -> None:
    """As on a node that the folder was copied to."""
    copied = tmp_path / "imb"
    shutil.copytree(folder, copied, symlinks=True)
    (copied / "mpigauge/mpis.txt").write_text(list_text([]))
    assert library_of(mpi, copied / "IMB-MPI1") == str(mpi.library.resolve())


def test_a_broken_list_is_named_with_its_line(folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "imb"
    shutil.copytree(folder, copied, symlinks=True)
    (copied / "mpigauge/mpis.txt").write_text("# mine\nmpi a\n  colour blue\n")
    done = alone(copied / "IMB-MPI1", "-help")
    assert done.returncode == 2
    assert re.fullmatch(r"IMB-MPI1: line 3 of .*/mpis.txt makes no sense\n", done.stderr)


# --- what these programs have beside IMB's options ------------------------------------------------
SMALL = {
    "IMB-MPI1": ("pingpong", "-msglog", "3:4"),
    "IMB-EXT": ("Unidir_Put", "-msglog", "3:4"),
    "IMB-IO": ("S_Write_indv", "-msglog", "3:4"),
    "IMB-NBC": ("Ibarrier", "-msglog", "3:4"),
    "IMB-RMA": ("Unidir_put", "-msglog", "3:4"),
    "IMB-MPI4": ("Barrier_persist",),
    "IMB-MT": ("PingPongMT", "-count", "1,4"),
    "IMB-P2P": ("SendRecv_Replace", "-msglog", "3:4"),
    "IMB-HALO": ("simple_halo", "-count", "1,4"),
    "IMB-MPI1-GPU": ("pingpong", "-msglog", "3:4"),
    "IMB-RMA-GPU": ("Unidir_put", "-msglog", "3:4"),
}
GPU_PROGRAMS = ("IMB-MPI1-GPU", "IMB-RMA-GPU")


def with_gpu(mode: str = "aware") -> dict[str, str]:
    """The environment of a driver for tests, whose memory this MPI can touch."""
    return {"LD_LIBRARY_PATH": str(fake("cuda").parent), "MPIGAUGE_FAKE_CUDA": mode}


def test_no_program_is_forgotten(folder: Path) -> None:
    assert {path.name for path in folder.iterdir() if path.name != "mpigauge"} == set(SMALL)


def records_in(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_every_program_writes_records(
    folder: Path, tmp_path: Path, name: str, adaptive: bool
) -> None:
    """By IMB's schedule or sampled: what is shown is what is recorded, and nothing else is said."""
    file = tmp_path / "records.jsonl"
    words = (*SMALL[name], *(["-adaptive"] if adaptive else []), "-records", str(file))
    place = ("-dir", str(tmp_path)) if name == "IMB-IO" else ()
    env = with_gpu() if name in GPU_PROGRAMS else {}
    done = two(find("mpich"), folder / name, *words, *place, **env)
    assert done.returncode == 0, done.stderr
    assert '"record"' not in done.stdout
    records = records_in(file)
    assert records[0]["record"] == "launch"
    assert records[-1]["record"] == "end"
    cells = [r for r in records if r["record"] == "cell"]
    assert cells
    for cell in cells:
        assert cell["suite"] == name.removeprefix("IMB-").removesuffix("-GPU")
        assert cell["memory"] == ("device" if name in GPU_PROGRAMS else "host")
        assert cell["sharing"] == ("shared" if name in GPU_PROGRAMS else "")
        assert cell["mode"] == ("adaptive" if adaptive else "classic")
        assert cell["stop"] != "schedule" or not adaptive
        assert cell["wrong_count"] == 0
        assert str(cell["benchmark"]) in done.stdout
    rows = len(re.findall(r"^ *\d+(?: +[\d.]+){2,}$|^\d+\(x\d+\)", done.stdout, re.MULTILINE))
    assert rows == len(cells)


REMARK = re.compile(
    r"# not precise: (\d+) bytes, (\d+) repetitions, (\+-[\d.e+]+ %|error not known)"
)


def test_rows_that_did_not_become_precise_are_named_behind_the_table(
    folder: Path, tmp_path: Path
) -> None:
    """In a comment, by which our own reader sees the rows as without it."""
    file = tmp_path / "records.jsonl"
    words = ("-adaptive", "-msgsize", "8,4096", "-records", str(file), "PingPong", "Allreduce")
    done = two(find("mpich"), folder / "IMB-MPI1", *words)
    assert done.returncode == 0, done.stderr
    cells = [r for r in records_in(file) if r["record"] == "cell"]
    unsure = [cell["message_bytes"] for cell in cells if cell["stop"] != "precise"]
    assert [int(size) for size, *_ in REMARK.findall(done.stdout)] == unsure
    comments = re.compile(r"^# not precise.*\n", re.MULTILINE)
    with_them = READERS["imb"].read(Text(done.stdout.encode()))
    without = READERS["imb"].read(Text(comments.sub("", done.stdout).encode()))
    assert cells_of(with_them) == cells_of(without)
    assert len(cells_of(with_them)) == len(cells)


def cells_of(reading: Reading) -> list[str]:
    return [str(cell) for table in reading.tables for cell in table.cells()]


# --- IMB-MPI1-GPU and IMB-RMA-GPU -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "memory"),
    [("device", "device"), ("host", "pinned"), ("shared", "managed"), ("cpu", "host")],
)
def test_words_of_imb_name_the_memory(folder: Path, tmp_path: Path, word: str, memory: str) -> None:
    file = tmp_path / "records.jsonl"
    words = ("PingPong", "-mem_alloc_type", word, "-msglog", "3:4", "-iter", "5")
    done = two(find("mpich"), folder / "IMB-MPI1-GPU", *words, "-records", str(file), **with_gpu())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].endswith(", MPI-1 part (GPU)")
    assert {r["memory"] for r in records_in(file) if r["record"] == "cell"} == {memory}


def test_memory_of_the_cpu_needs_no_driver(folder: Path) -> None:
    words = ("PingPong", "-mem_alloc_type", "cpu", "-msglog", "3:4", "-iter", "5")
    assert two(find("mpich"), folder / "IMB-MPI1-GPU", *words).returncode == 0


@pytest.mark.parametrize("name", GPU_PROGRAMS)
def test_without_a_driver_one_line_says_so(folder: Path, name: str) -> None:
    done = two(find("mpich"), folder / name, "-msglog", "3:4", **with_gpu("none"))
    assert done.returncode == 2
    (line,) = said(done, name)
    assert line.endswith("the CUDA driver reports no GPU")


def test_other_words_for_memory_are_refused(folder: Path) -> None:
    for word in ("managed", "gpu", ""):
        done = two(find("mpich"), folder / "IMB-MPI1-GPU", "-mem_alloc_type", word, **with_gpu())
        assert done.returncode == 2
        assert said(done, "IMB-MPI1-GPU") == [
            f"IMB-MPI1-GPU: -mem_alloc_type: '{word}' is none of device, host, shared, cpu"
        ]
    done = two(find("mpich"), folder / "IMB-RMA-GPU", "-mem_alloc_type", "device", **with_gpu())
    assert done.returncode == 2


def test_the_second_line_of_the_one_sided_program(folder: Path) -> None:
    done = two(find("mpich"), folder / "IMB-RMA-GPU", *SMALL["IMB-RMA-GPU"], **with_gpu())
    assert done.stdout.splitlines()[1].endswith(", RMA part (GPU), Technical preview")


# --- IMB-HALO -------------------------------------------------------------------------------------
HALO = ("-repeat", "5", "-count", "1,2")


def test_a_grid_smaller_than_the_job_leaves_ranks_waiting_and_says_so(folder: Path) -> None:
    done = several(4, find("mpich"), folder / "IMB-HALO", "-topo", "2.1", *HALO)
    assert done.returncode == 0, done.stderr
    assert "# Benchmarking simple_halo (processes: 2; threads: 1; dimensions: 2)" in done.stdout
    assert "# ( 2 additional processes waiting in MPI_Barrier)" in done.stdout
    reading = READERS["imb"].read(Text(done.stdout.encode()))
    rows = [cell for table in reading.tables for cell in table.cells()]
    assert [(cell.ranks, cell.message_bytes) for cell in rows] == [(2, 4), (2, 8)]
    # Nothing is sent along the side of one: a message to each side and one from there, as in IMB.
    assert re.findall(r"(?m)^(\d+)\(x(\d+)\)", done.stdout) == [("4", "4"), ("8", "4")]
    assert [cell.moved_bytes for cell in rows] == [4 * 4, 4 * 8]


@pytest.mark.parametrize(
    ("ranks", "words", "processes", "dimensions"),
    [
        (4, (), 4, 1),
        (3, ("-topo", "2"), 3, 1),
        (4, ("-topo", "1.1"), 4, 2),
        (2, ("-topo", "4.2"), 2, 2),
    ],
)
def test_a_grid_has_the_proportions_that_are_given(
    folder: Path, ranks: int, words: tuple[str, ...], processes: int, dimensions: int
) -> None:
    done = several(ranks, find("mpich"), folder / "IMB-HALO", *words, *HALO)
    assert done.returncode == 0, done.stderr
    heading = f"(processes: {processes}; threads: 1; dimensions: {dimensions})"
    assert f"# Benchmarking simple_halo {heading}" in done.stdout


def test_a_grid_larger_than_the_job_is_refused(folder: Path) -> None:
    done = two(find("mpich"), folder / "IMB-HALO", "-topo", "3.2")
    assert done.returncode == 2
    assert said(done, "IMB-HALO") == [
        "IMB-HALO: -topo: a grid of 3x2 has more points than the job has processes, 2"
    ]


def test_a_grid_of_one_point_measures_nothing(folder: Path) -> None:
    done = two(find("mpich"), folder / "IMB-HALO", "-topo", "1.1", *HALO)
    assert done.returncode == 0, done.stderr
    assert "(usec)" not in done.stdout
    assert "needs at least 2 ranks" in done.stdout


@pytest.mark.parametrize("name", SMALL)
def test_every_program_takes_the_options_that_choose_benchmarks(
    folder: Path, tmp_path: Path, name: str
) -> None:
    benchmark = SMALL[name][0]
    names = tmp_path / "names"
    names.write_text(f"{benchmark}\n")
    listed = alone(folder / name, "-list")
    assert listed.returncode == 0, listed.stderr
    assert benchmark.lower() in listed.stdout.lower()
    for option in ("-input", "-include", "-exclude"):
        helped = alone(folder / name, "-help", option)
        assert helped.returncode == 0, helped.stderr
        assert option in helped.stdout
    left = two(find("mpich"), folder / name, "-input", str(names), "-exclude", benchmark)
    assert left.returncode == 2
    assert said(left, name) == [f"{name}: no benchmark is left to be run"]


@pytest.mark.parametrize("name", ["IMB-MT", "IMB-HALO"])
def test_strides_and_alignments_are_taken(folder: Path, name: str) -> None:
    words = ("-stride", "1", "-malloc_align", "64", "-count", "1", "-repeat", "5")
    benchmark = SMALL[name][0]
    done = two(find("mpich"), folder / name, *words, "-include", benchmark, benchmark)
    assert done.returncode == 0, done.stderr
    assert done.stdout.lower().count(f"# benchmarking {benchmark.lower()}") == 2
    assert ("# -stride changes nothing" in done.stdout) == (name == "IMB-HALO")
    refused = two(find("mpich"), folder / name, "-malloc_align", "63")
    assert said(refused, name) == [f"{name}: -malloc_align: '63' is not a power of two"]


def test_a_records_file_that_cannot_be_made(folder: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "nowhere" / "records.jsonl"
    done = two(find("mpich"), folder / "IMB-P2P", "-records", str(wrong))
    assert done.returncode == 2
    (line,) = said(done, "IMB-P2P")
    assert str(wrong) in line
    assert done.stdout == ""


def test_a_folder_that_holds_no_files(folder: Path, tmp_path: Path) -> None:
    done = two(find("mpich"), folder / "IMB-IO", "-dir", f"{tmp_path},{tmp_path}/nowhere")
    assert done.returncode == 2
    (line,) = said(done, "IMB-IO")
    assert "-dir: no file can be made in" in line
    assert f"'{tmp_path}/nowhere'" in line
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
