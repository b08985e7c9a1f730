# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A run that holds something for every plot, and whose every name is markup."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mpigauge.products.explain.registry import explained
from mpigauge.result.run_result import RunResult, RunResults
from mpigauge.runs.store import RunWriter, load
from mpigauge.show.kinds import ALL, PLOTS
from mpigauge.show.web.report import report
from mpigauge.site.topology.passport import plain
from tests import cells, fabrics, planted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.columns import Cell

NAME = "<script>"
EVIL = "<img src=x onerror=alert(1)>"
SIZES = [0, 1, 8, 64, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262144]
TICKS = [[1000, 1010, 1020, 1030], [1000, 1040, 1050, 5000]]
"""Of both samples' cells, in each launch: nanoseconds of a round trip."""


def report_of(*shown: RunResult) -> str:
    """The page of these runs, as `mpigauge report` writes it where nothing is compared."""
    return report(shown, explained(shown[0].view))


def holding(kind: str, *shown: RunResult) -> list[RunResult]:
    """Of these runs and a network the first that has something for a kind of plot, as often as it
    needs runs."""
    least = PLOTS[kind].least_runs
    found = (
        each for each in (*shown, _network()) if PLOTS[kind].draw(RunResults([each] * least), ALL)
    )
    return [next(found)] * least


def network(folder: Path) -> RunResult:
    """A network of eight hosts, one of which is slow, in a folder. Their names are `EVIL`."""
    slow = lambda pair: 0.5 if 3 in pair else 1.0  # noqa: E731
    hosts = [f"{EVIL}{place}" for place in range(8)]
    return RunResult.of(NAME, load(fabrics.run(folder / "run", slow, slow, hosts, halves=slow)))


@cache
def _network() -> RunResult:
    """A network whose samples were read before its folder went."""
    with TemporaryDirectory() as folder:
        result = network(Path(folder))
        assert result.view.fabric
    return result


def hostile(folder: Path, sizes: Sequence[int] = SIZES, evil: str = EVIL, name: str = NAME) -> Path:
    """The run, in a folder of its own below this one. Each name that it holds is `evil`."""
    header = {
        "version": "0.1",
        "command": ["mpigauge", "run", evil],
        "plan": {"settings": {"UCX_TLS": evil}, "benchmarks": ["PingPong"]},
        "mpi": {"name": f"{evil}mpich", "version": "5.0.2"},
    }
    path = folder / name
    with RunWriter.create(header, cells.cards_text(), output=path) as writer:
        writer.write_passport({"machine": {**planted.LAPTOP, "hostname": evil}})
        for line in lines(sizes, evil):
            writer.append(line)
        writer.finish("done")
    return path


def machine(folder: Path) -> Path:
    """A run of a machine with two NUMA nodes: its memory on more cores and from other nodes, its
    caches, its products of matrices, and its least latency."""
    known = cells.cards()
    of_node = [
        replace(known.benchmarks[0], suite="NODE", name=name, ranks="any", unit="none")
        for name in dict.fromkeys(cell.benchmark for cell in of_machine())
    ]
    header = {
        "version": "0.1",
        "command": ["mpigauge", "node"],
        "plan": {"benchmarks": []},
        "mpi": {"name": "mpich", "version": "5.0.2"},
    }
    text = cells.cards_text(replace(known, benchmarks=(*known.benchmarks, *of_node)))
    with RunWriter.create(header, text, output=folder / "machine") as writer:
        writer.write_passport({"machine": planted.LAPTOP})
        writer.append(cells.line("launch", **cells.LAUNCH | {"launch": 0, "world_ranks": 4}))
        for cell in of_machine():
            writer.append(cells.line("cell", **plain(asdict(cell))))
        writer.append(cells.end(0))
        writer.finish("done")
    return folder / "machine"


def of_machine() -> Iterator[Cell]:
    memory, moved = 1 << 27, 3.0 * (1 << 27)

    def of(name: str, seconds: float, size: int = memory, **changed: Any) -> Cell:
        return cells.cell(name, suite="NODE", message_bytes=size, time_p50_s=seconds, **changed)

    for ranks, speed in ((1, 20e9), (2, 38e9), (4, 40e9)):
        for name, factor in (("Triad", 0.8), ("Triad_tuned", 1.0)):
            bytes_moved = moved * ranks
            yield of(name, bytes_moved / speed / factor, ranks=ranks, moved_bytes=bytes_moved)
    for threads, speed in ((1, 20e9), (2, 37e9)):
        yield of("Triad_tuned", moved / speed, threads=threads, ranks=1, moved_bytes=moved,
                 settings="thread-order=compact")  # fmt: skip
    for cores, nodes in ((0, (1.0, 0.6)), (1, (0.6, 1.0))):
        for node, share in enumerate(nodes):
            place, words = f"numa:{cores}", f"thread-order=compact memory-on={node}"
            yield of("Triad_tuned", moved / 40e9 / share, moved_bytes=moved, settings=words,
                     placement=place, ranks=1, threads=2)  # fmt: skip
            yield of("Chase_huge", 1024 * 90e-9 / share, time_scale=1 / 1024, settings=words,
                     placement=place, ranks=1, threads=2)  # fmt: skip
    for size, access in ((1 << 14, 1.2e-9), (1 << 20, 4e-9), (1 << 25, 90e-9)):
        yield of("Triad", 3.0 * size / 30e9, size, ranks=1, moved_bytes=3.0 * size)
        yield of("Chase", 1024 * access * 1.2, size, ranks=1, time_scale=1 / 1024)
        yield of("Chase_huge", 1024 * access, size, ranks=1, time_scale=1 / 1024)
    yield of("Peak_avx2", 96_000 / 46e9, -1, ranks=1, messages=96_000.0)
    for order, share in ((500, 0.7), (2000, 0.9)):
        yield of("DGEMM", 2.0 * order**3 / 46e9 / share, 8 * order**2, ranks=1,
                 messages=2.0 * order**3, settings="blas=openblas", busy_cores=1.0,
                 busy_threads=1.0, variant="OpenBLAS 0.3.34, core Haswell, pthreads, 1 thread",
                 )  # fmt: skip
    yield of("Mailbox", 140e-9, -1, ranks=2)
    yield cells.cell("PingPong", message_bytes=0, time_p50_s=1.6e-6)


def lines(sizes: Sequence[int], evil: str = EVIL) -> Iterator[str]:
    for launch in range(planted.LAUNCHES):
        yield cells.line("launch", **cells.LAUNCH | {"launch": launch, "world_ranks": 4})
    for rank in planted.ranks(["0", "1", "2", "3"], host=evil):
        yield cells.line("rank", **plain(asdict(rank)))
    yield cells.line("noise", **plain(asdict(planted.noise(0.3))))
    yield cells.line("error", launch=0, rank=3, message=evil)
    for cell in measured(sizes, evil):
        yield cells.line("cell", **plain(asdict(cell)))
    for threads in (1, 2, 4):
        yield cells.line(
            "figure", launch=0, benchmark="STREAM", name=f"{evil}Triad", unit="MB/s",
            value=9000.0 * threads, better="higher", arm=f"threads={threads}",
        )  # fmt: skip
    for launch in range(planted.LAUNCHES):
        yield from map(partial(sampled, launch), (8, 64))
        yield cells.end(launch)


def measured(sizes: Sequence[int], evil: str = EVIL) -> Iterator[Cell]:
    """PingPong with a jump above 4 KiB under two settings; a collective on 2 and 4 ranks; pairs."""

    def slow(n: int) -> float:
        return planted.line()(n) * (4 if n > 4096 else 1)

    yield from planted.curve(slow, sizes=sizes, messages=1.0)
    yield from planted.curve(planted.line(2e-6), sizes=sizes, arm=f"A={evil}")
    yield from planted.curve(slow, "Uniband", sizes=[0, 64, 4096], inflight=256, messages=256.0)
    for ranks in (2, 4):
        time = planted.line(ranks * 1e-6)
        yield from planted.curve(time, "Allreduce", sizes, ranks=ranks, datatype="float", op="sum")
    for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        yield from planted.curve(
            planted.line((1 + a + b) * 1e-7), sizes=[8], launches=1, members=f"{a},{b}", groups=2,
            group=0,
        )  # fmt: skip


def sampled(launch: int, size: int) -> str:
    """A cell of PingPing with its samples."""
    fields: dict[str, Any] = cells.fields("PingPing", launch=launch, message_bytes=size)
    return cells.line("cell", **fields, raw=cells.raw(TICKS))
