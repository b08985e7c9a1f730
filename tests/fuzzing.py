# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Everything that reads what others wrote, whole examples of it, and ways to damage these.

A new reader is here without another line: its examples are the golden texts that its mark is in.
tests/replay/test_fuzz.py tries for half a minute, bench/fuzz.py with as many as one wants.
"""

from __future__ import annotations

import io
import json
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.model.errors import RunError, UserError
from mpigauge.model.record import encode, parse
from mpigauge.products.profile.analyse.causes import explained
from mpigauge.products.profile.show.text import page
from mpigauge.products.profile.store.reported import reported_jobs
from mpigauge.runs.readers import READERS, Text, sniff
from tests import cells, runs
from tests.elf_files import Made

if TYPE_CHECKING:
    import random

    from mpigauge.site.placement.host_resources import HostResources

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests/golden"
MACHINES = ROOT / "tests/machines"
PROGRAMS = "machine code"
"""The target that gets files of ELF."""
LARGE = 64 << 10
"""Bytes of a text whose time is looked at."""
MOST_TIMES = 20
"""What a text of that size may take of the median of valid ones."""
OURS = (UserError, RunError)
Read = Callable[[bytes, Path], object]


@dataclass(frozen=True)
class Target:
    """Something that reads whatever it is given, beside a folder of its own."""

    name: str
    read: Read
    examples: tuple[bytes, ...]
    """What it reads without complaint."""
    large: tuple[bytes, ...]
    """The same, each of about LARGE bytes."""


@cache
def targets() -> dict[str, Target]:
    """All of them by name."""
    found = [
        *(_of_reader(name) for name in READERS),
        Target("hostfile", _hostfile, _HOSTFILES, (_numbered("node{:05d}:2\n"),)),
        Target("hosts", _hosts, (b"n[01-64,99]:2,b,a-b.org:4",), (_numbered(",n{:05d}", 1),)),
        Target("rankfile", _rankfile, _RANKFILES, (_numbered("rank {}=node1 slot=0-1\n"),)),
        Target("launch line of a log", _launch_line, _LINES, (_numbered(" -n {}", 1),)),
        Target("file of rules", _rules, _RULES, (_large_rules(),)),
        _of_lines("sizes", _sizes, (b"0,1..4Mi\n64Ki # a comment\n0..1Ki,8,8\n",)),
        Target("plan", _plan, tuple(_plans()), (_large_plan(),)),
        _of_lines("limits", _limits, ((ROOT / "examples/reframe/src/limits.toml").read_bytes(),)),
        _of_machines("topology", "xml"),
        _of_machines("record of a machine", "txt"),
        _of_lines("records", _records, _run_lines()),
        Target("head of a run", _head, (_run_head(),), (_run_head(LARGE),)),
        Target("pack", _pack, (_packed(1),), (_packed(LARGE),)),
        Target(PROGRAMS, _program, tuple(_programs()), (_large_program(),)),
        _of_lines("names taken out", _disguised, (b"node1:4711 alice@site.org 10.1.2.3 \n",)),
    ]
    return {target.name: target for target in found}


def complaint(target: Target, data: bytes, folder: Path) -> str:
    """What went wrong that should not: another exception than ours; empty: nothing."""
    try:
        target.read(data, folder)
    except OURS:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


# --- time -----------------------------------------------------------------------------------
def cpu_seconds(target: Target, data: bytes, folder: Path) -> float:
    """Of this process, for reading it once."""
    begin = time.process_time()
    with suppress(*OURS):
        target.read(data, folder)
    return time.process_time() - begin


def usual_seconds(target: Target, folder: Path, times: int = 3) -> float:
    """The median over valid texts of LARGE bytes, of each the best of so many times."""
    best = [min(cpu_seconds(target, x, folder) for _ in range(times)) for x in target.large]
    return median(best)


def slowness(target: Target, data: bytes, folder: Path, usual: float, times: int = 4) -> float:
    """How many times the usual it takes; what looks slow is tried again, as others use the core."""
    best = cpu_seconds(target, data, folder)
    for _ in range(times - 1):
        if best <= MOST_TIMES * usual:
            break
        best = min(best, cpu_seconds(target, data, folder))
    return best / usual


# --- damage ---------------------------------------------------------------------------------
HOSTILE = (
    b"9" * 5000, b"1e999", b"-1", b"0", b"nan", b"inf", b"-inf", b"18446744073709551616",
    b"1e-999", b"\0", b"\xff\xfe", "\u0661".encode(), "\u2028".encode(), b"\x1b[31m", b"\r",
    b"\t", b" " * 300, b"[" * 3000, b"{" * 3000, b"<a>" * 2000, b'"', b"'", b"\\", b"#", b"=",
    b",", b"..", b"0-999999999", b"[0-999999]", b"%s%n", b"null", b"true", b"[]", b"{}", b'""',
    b"0x" + b"f" * 3000, b"",
)  # fmt: skip
"""What no program should print, and somebody sends."""
FILLERS = (b" ", b"\t", b"0", b"1", b"a", b".", b"-", b":", b"#", b"[", b"(", b"\n", b" 1", b"a.")


def damaged(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """The text with a few of its bytes, words or lines lost, doubled, swapped or replaced."""
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(_DAMAGES)(data, chance, others)
    return data


def _bytes(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    at, length = _place(data, chance)
    new = chance.choice((b"", b"7", b"\n", data[at : at + length] * 2, chance.choice(HOSTILE)))
    return data[:at] + new + data[at + length :]


def _one_byte(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    at, _length = _place(data, chance)
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _word(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    """A word, or a number, is replaced."""
    at, _length = _place(data, chance)
    line = data[at : at + 200].split(b"\n")[0]
    words = line.split()
    if not words:
        return data
    return (
        data[:at]
        + line.replace(chance.choice(words), chance.choice(HOSTILE), 1)
        + data[at + len(line) :]
    )


def _lines(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    change = chance.choice(("swap", "drop", "double", "many"))
    if change == "swap":
        lines[first], lines[second] = lines[second], lines[first]
    elif change == "drop":
        del lines[first]
    else:
        lines[first:first] = [lines[second]] * (1 if change == "double" else 50)
    return b"\n".join(lines)


def _cut(data: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    at, _length = _place(data, chance)
    return data[:at]


def _joined(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """The beginning of this and the end of another."""
    other = chance.choice(others)
    return data[: _place(data, chance)[0]] + other[_place(other, chance)[0] :]


def _place(data: bytes, chance: random.Random) -> tuple[int, int]:
    return chance.randrange(len(data) + 1), chance.randint(1, 80)


_DAMAGES = (_bytes, _one_byte, _word, _lines, _cut, _joined)


def pumped(data: bytes, chance: random.Random) -> bytes:
    """LARGE bytes: a part of a line, or what may fill it, again and again in its place."""
    lines = [line for line in data.split(b"\n") if line] or [b""]
    line = chance.choice(lines)
    at = chance.randrange(len(line) + 1)
    part = line[at : at + chance.randint(1, 40)]
    filler = chance.choice((part, part, *FILLERS)) or b" "
    count = LARGE // len(filler)
    before, after = [*data.split(line, 1), b""][:2] if line else (b"", b"")
    before, after = before[: LARGE // 8], after[: LARGE // 8]
    where = chance.choice(("inside", "instead", "behind", "alone"))
    if where == "alone":
        return (filler * count)[:LARGE]
    tail = {"inside": line[at:], "instead": line[at + len(part) :], "behind": b""}[where]
    head = line if where == "behind" else line[:at]
    room = LARGE - len(before) - len(head) - len(tail)
    return before + head + (filler * count)[: max(room, 0)] + tail + after


# --- those who read -------------------------------------------------------------------------
@cache
def _golden() -> tuple[bytes, ...]:
    found = (GOLDEN / folder for folder in ("printed", "imb", "real"))
    return tuple(path.read_bytes() for of in found for path in sorted(of.glob("*.txt")))


def _of_reader(name: str) -> Target:
    reader = READERS[name]
    examples = tuple(text for text in _golden() if reader.mark.search(Text(text).data))

    def read(data: bytes, _: Path) -> object:
        text = Text(data)
        found = sniff(text), text.left_out
        reading = reader.read(text)
        records = [encode(record) for record in reading.records()]
        jobs = reported_jobs(reading)
        return found, [parse(record) for record in records], page(jobs), explained(jobs)

    few = examples[:: len(examples) // 6 + 1]
    return Target(name, read, examples, tuple(_repeated(text) for text in few))


def _of_lines(name: str, read: Read, examples: tuple[bytes, ...]) -> Target:
    return Target(name, read, examples, tuple(_repeated(text) for text in examples))


def _repeated(text: bytes) -> bytes:
    """LARGE bytes of it, whole lines."""
    text = text if text.endswith(b"\n") else text + b"\n"
    many = text * (LARGE // len(text) + 1)
    return many[: many.rindex(b"\n", 0, max(LARGE, len(text))) + 1]


def _of_machines(name: str, ending: str) -> Target:
    """The largest machines are of about LARGE bytes."""
    from mpigauge.site.topology.built import built

    def read(data: bytes, folder: Path) -> object:
        path = folder / f"machine.{ending}"
        path.write_bytes(data)
        return built(path)

    files = sorted(MACHINES.glob(f"*.{ending}"), key=lambda path: path.stat().st_size)
    examples = tuple(path.read_bytes() for path in files)
    return Target(
        name, read, examples, tuple(x for x in examples if LARGE / 2 < len(x) < 2 * LARGE)
    )


_HOSTFILES = (
    b"node1:2\nnode2 slots=4 max_slots=8 # fat\nnode[03-06]\n",
    b"a slots=1\nb\nc:3\n",
    b"a slots = 1 // one\n^b\nb count=2\nrank 0=c slot=0\n/* d */ e\n",
    b"n1.org 4 all.q@n1.org UNDEFINED\nn2.org 2 all.q@n2.org <NULL>\n",
)


_RANKFILES = (
    b"rank 0=node1 slot=0-1\nrank 1=+n1 slot=0:0\n",
    b"rank 0=node1 slot=0:0,1;0 // two\nrank 1=node1 slot=p0\n",
)
_LINES = (b"mpirun -np 1 a : -np 3 osu_bw", b"jsrun -n 4 -a 2 osu_bw", b"srun -N 2 -n4 osu_bw")
_RULES = (b"1 # collectives\n7\n1\n4\n2\n0 1 0 0\n1024 6 0 65536\n",)


def _numbered(form: str, without: int = 0) -> bytes:
    """LARGE bytes of the form with each number, but for the first characters."""
    count = LARGE // len(form.format(1))
    return "".join(form.format(number) for number in range(count))[without:].encode()


def _hostfile(data: bytes, folder: Path) -> object:
    from mpigauge.model.hostfile import read_hostfile

    (folder / "hosts").write_bytes(data)
    return read_hostfile(folder / "hosts")


def _large_rules() -> bytes:
    lines = _numbered("{} 1 0 0\n")
    return b"1 7 1 4 %d\n" % lines.count(b"\n") + lines


def _launch_line(data: bytes, _: Path) -> object:
    from mpigauge.site.launch.lines.count import count_ranks

    return count_ranks(data.decode("utf-8", "replace"), lambda word: "osu_" in word)


def _rules(data: bytes, folder: Path) -> None:
    from mpigauge.site.mpi.settings.files import check_files

    (folder / "rules").write_bytes(data)
    check_files({"coll_tuned_dynamic_rules_filename": str(folder / "rules")})


def _hosts(data: bytes, _: Path) -> object:
    from mpigauge.model.hostlist import parse_hosts

    return parse_hosts(data.decode("utf-8", "replace"), "--hosts")


def _sizes(data: bytes, folder: Path) -> object:
    from mpigauge.model.sizes import read_sizes

    (folder / "sizes").write_bytes(data)
    return read_sizes(folder / "sizes")


def _rankfile(data: bytes, folder: Path) -> object:
    from mpigauge.session.lookups import look_up
    from mpigauge.site.placement import place

    path = folder / "ranks"
    path.write_bytes(data)
    word = f"rankfile:{path}"
    return place(word, _sites(), 2, files=look_up({"place": (word,)}).rankfiles)


@cache
def _sites() -> tuple[HostResources, ...]:
    """Two hosts of four cores."""
    from mpigauge.site.placement.host_resources import HostResources
    from mpigauge.site.topology.built import built

    machine = built(MACHINES / "arm-raspberry-pi-4.xml")
    return HostResources("node1", machine), HostResources("node2", machine)


_PLAN = b"""benchmarks = ["Bcast", "Allreduce"]
np = 4
sizes = "8,64Ki"
in = "20s"
place = ["core", "socket"]
env = ["OMP_NUM_THREADS=1"]
[[vary]]
when = "UCX_RNDV_THRESH > 4096 and UCX_TLS != 'self'"
grid = { UCX_RNDV_THRESH = [1024, 8192, 65536], "env:OMP_PROC_BIND" = ["true", "false"] }
zip = { UCX_TLS = ["self,sm", "self,tcp"], transport = ["shm", "tcp"] }
[[vary]]
mpi = "openmpi"
list = [{ coll_tuned_bcast_algorithm = 1 }, { coll_tuned_bcast_algorithm = 2 }]
[[command]]
name = "hpl"
run = "./xhpl -x"
reader = "hpl"
"""


def _plans() -> Iterator[bytes]:
    yield (ROOT / "examples/sweep-collectives.toml").read_bytes()
    yield _PLAN


def _large_plan() -> bytes:
    values = ", ".join(f'"{number:016d}"' for number in range(LARGE // 20))
    return f'benchmarks = ["Bcast"]\n[[vary]]\ngrid = {{ UCX_TLS = [{values}] }}\n'.encode()


def _plan(data: bytes, folder: Path) -> object:
    """As far as a plan goes without an MPI."""
    from mpigauge.measuring.plan.arms.arms import arms
    from mpigauge.products.sweep.command import command
    from mpigauge.products.sweep.sweeping import read_sweep

    path = folder / "plan.toml"
    path.write_bytes(data)
    said = command.make_context("sweep", [str(path)]).params
    sweep = read_sweep(said, dry_run=True)
    return arms(sweep.blocks, "mpich", "mpich", sweep.control)


def _limits(data: bytes, folder: Path) -> object:
    from mpigauge.model.inputs import read_text
    from mpigauge.products.check.limits import parse_limits
    from mpigauge.runs.readers.known import known_cards

    path = folder / "limits.toml"
    path.write_bytes(data)
    return parse_limits(read_text(path), str(path), known_cards().names())


def _run_lines() -> tuple[bytes, ...]:
    lines = [runs.launch(), runs.rank(0), runs.rank(1), runs.cell(), runs.figure(), cells.end()]
    return ("\n".join(lines).encode() + b"\n",)


def _run_head(size: int = 0) -> bytes:
    head = {"schema": 1, "version": "0.1", "created": "2026-11-21T05:00:00Z", "note": "x" * size}
    plan = {"benchmarks": ["PingPong"], "sizes": [8]}
    more = {"command": ["mpigauge"], "plan": plan, "mpi": {"name": "mpich", "version": "5"}}
    return json.dumps(head | more).encode()


@cache
def _stored() -> dict[str, bytes]:
    """The files of a whole run."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = runs.write(Path(name) / "run")
        files = [path for path in folder.rglob("*") if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _load(folder: Path, name: str, data: bytes) -> object:
    """A whole run of which one file is this."""
    from mpigauge.result.document import document
    from mpigauge.runs.store import load

    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    for inside, content in (_stored() | {name: data}).items():
        (run / inside).parent.mkdir(parents=True, exist_ok=True)
        (run / inside).write_bytes(content)
    return document(load(run))


def _records(data: bytes, folder: Path) -> object:
    return _load(folder, "records.jsonl", data)


def _head(data: bytes, folder: Path) -> object:
    return _load(folder, "run.json", data)


def _packed(size: int) -> bytes:
    """A run with a log of so many bytes, which cannot be made smaller."""
    import random

    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run/run.json", _stored()["run.json"])
        for name, content in _stored().items():
            if name != "run.json":
                archive.writestr(f"run/{name}", content)
        archive.writestr("run/logs/launch-000.stderr", random.Random(1).randbytes(size))
    return made.getvalue()


def _pack(data: bytes, folder: Path) -> object:
    from mpigauge.runs.store.pack import is_pack, unpack

    path, out = folder / "x.mpigauge", folder / "out"
    path.write_bytes(data)
    shutil.rmtree(out, ignore_errors=True)
    return is_pack(path), unpack(path, out)


def _disguised(data: bytes, _: Path) -> object:
    from mpigauge.runs.store.anonymize import Anonymizer
    from mpigauge.runs.store.names import Names

    anonymizer = Anonymizer(Names(("node1.site.org", "login1"), ("alice",), ("/home/alice",)))
    return anonymizer.text(data.decode("utf-8", "surrogateescape"))


# --- machine code ---------------------------------------------------------------------------
def _programs() -> Iterator[bytes]:
    """Libraries of MPI and programs that need them, of 64 and 32 bits and both orders of bytes."""
    names = ("MPI_Init", "MPI_Send", "main")
    for wide, little in ((True, True), (False, True), (True, False)):
        yield Made(
            needed=("libmpi.so.12", "libc.so.6"),
            soname="libx.so.1",
            rpath="/a:$ORIGIN/b",
            runpath="/c",
            wants=names,
            offers=("MPI_Recv",),
            linked=names,
            wide=wide,
            little=little,
        ).content()
    yield Made(dynamic=False, linked=names).content()


def _large_program() -> bytes:
    return Made(needed=("libc.so.6",), wants=[f"symbol_{n:05d}" for n in range(500)]).content()


def _program(data: bytes, folder: Path) -> object:
    """What is seen of a program before it is started, and its symbols afterwards."""
    from mpigauge.products.profile.read.symbols import read_symbols
    from mpigauge.site.mpi.programs import look

    path = folder / "program"
    path.write_bytes(data)
    path.chmod(0o755)
    return read_symbols(path), look([str(path)], {"PATH": ""})
