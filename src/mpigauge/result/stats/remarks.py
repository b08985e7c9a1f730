# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Warnings about a result, as sentences that name the cells concerned."""

from __future__ import annotations

from collections import Counter
from math import isnan
from typing import TYPE_CHECKING, Protocol

from mpigauge.model.between import LEAST_RUNS
from mpigauge.model.cards import FIRST_SUITE, benchmark_word
from mpigauge.model.flags import SHARED_GPU, flags_of
from mpigauge.model.grouping import distinct, grouped
from mpigauge.model.placement_words import LABEL, meanings
from mpigauge.model.units import byte_count, listed, many, percent, plus_minus
from mpigauge.result.stats.history import STARTING_SD
from mpigauge.result.stats.launches import DRIFT, HOPELESS, STEADY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.record import Noise, Skip
    from mpigauge.model.row import Row
    from mpigauge.result.stats.changes import Change

MEANING = {
    "tainted": "a rank was switched out, moved to another core or lost time to the hypervisor "
    "while it was measured; the disturbed samples are left out where enough others remain",
    "drift": "early and late samples differ: the machine changed while it was measured",
    "bimodal": "the samples fall into two groups, and the median may jump from one to the other",
    "unconverged": "the wanted precision was not reached; more time (--time) or launches help",
    "cold-sensitive": "the first call after other work takes much longer than the next ones",
    "sync": "the common clock of the ranks is less exact than this operation needs",
    "clock": "the operation is so short that the clock's own cost and step count",
    "detours": "as many samples are longer by a detour as were found on these cores, and without "
    "them it would be as precise as wanted",
    "oversubscribed": "more ranks than cores: the times are those of the scheduler, not of MPI; "
    "collectives start after a barrier, not by the clock",
    "aggressors": "the hosts that were to disturb others stopped before these were measured, so it "
    "is no time beside them",
    SHARED_GPU: "ranks share a GPU: its driver serves one process at a time, unless MPS joins "
    "them, so such times are not compared with those of ranks that have GPUs of their own",
}
_MOST_NAMED = 3
_MOST_CELLS = 6
_NOISY = 0.02


class Named(Protocol):
    """The names of a row, and its flags."""

    @property
    def benchmark(self) -> str: ...
    @property
    def ranks(self) -> int: ...
    @property
    def message_bytes(self) -> int: ...
    @property
    def flags(self) -> tuple[str, ...]: ...
    @property
    def wrong_count(self) -> int: ...


_UNCONVERGED = {
    HOPELESS: ", and twenty launches in a row would reach it in few of them; measure for longer "
    "(--time), or on a quieter machine",
    DRIFT: ", and this machine differs by more from run to run, as its earlier runs show, than "
    "launches of one run can: measure again at another time, or for longer (--time)",
    STEADY: ", though by earlier runs of this machine so many launches usually reach it; measure "
    "for longer (--time) to narrow ±",
}
"""The reason why no more launches were made for such rows."""


def sentences(rows: Sequence[Named], changed: bool = False, stop: str = "") -> list[str]:
    """One sentence for wrong data, then one for each flag, each with the cells concerned.
    `changed`: the machine did while they were measured, so that no more launches would help;
    `stop` is the reason why launches ended before the most."""
    lines = []
    wrong = [row for row in rows if row.wrong_count]
    if wrong:
        lines.append(f"{name_cells(wrong)}: {_wrong(wrong)}.")
    for flag in flags_of(rows):
        concerned = [row for row in rows if flag in row.flags]
        meaning = _meaning(flag, changed, stop)
        lines.append(f"{flag}, {_who(concerned, len(rows))}: {meaning}.")
    return lines


def _meaning(flag: str, changed: bool, stop: str) -> str:
    if flag == "unconverged" and changed:
        return "the wanted precision was not reached, since the machine changed meanwhile"
    if flag == "unconverged" and stop in _UNCONVERGED:
        return f"the wanted precision was not reached{_UNCONVERGED[stop]}"
    return MEANING.get(flag, "unknown flag")


def change_sentence(change: Change, starts: Mapping[int, str]) -> str:
    """Describes a change of the machine during a run: when, by how much, and each side's error."""
    launches = change.before + change.after
    at = starts.get(change.launch, "")
    when = f" ({at})" if at else ""
    agreements = []
    if not isnan(change.error_before):
        agreements.append(f"before it ({change.before}) agree to {plus_minus(change.error_before)}")
    if not isnan(change.error_after):
        those = "those " if agreements else ""
        agreements.append(
            f"{those}after it ({change.after}) agree to {plus_minus(change.error_after)}"
        )
    agreeing = f"; launches {', '.join(agreements)}, in the median" if agreements else ""
    return (
        f"The machine changed in the middle: from launch {change.before + 1} of {launches} on"
        f"{when} calls took {change.ratio:.2f} times as long, in the median over "
        f"{many(change.cells, 'cell')}{agreeing}"
        ". ± is of both states together, and more launches would not make it narrower: see what "
        "else ran then (`mpigauge doctor`), and measure again."
    )


def machine_sentences(rows: Sequence[Row]) -> list[str]:
    """Warns if ± machine rests on few earlier runs, and names rows outside of the range of earlier
    runs."""
    new, runs = [], []
    some_known = False
    for row in rows:
        if not row.scatter:
            continue
        if row.scatter.is_known:
            some_known = True
        else:
            new.append(row)
            runs.append(row.scatter.runs)
    lines = []
    if new:
        of = f" for {_who(new, len(rows))}" if some_known else ""
        lines.append(
            f"This machine is not known yet{of} ({many(max(runs), 'earlier run')} of the "
            f"{LEAST_RUNS} that it takes): ± machine rests on a starting value, "
            f"{percent(STARTING_SD)} from run to run."
        )
    if outside := outside_rows(rows):
        lines.append(outside_sentence(outside, len(rows)))
    return lines


def outside_rows(rows: Iterable[Row]) -> list[Row]:
    """The rows outside of the range of earlier runs of their machine."""
    return [row for row in rows if row.scatter and row.scatter.outside]


def outside_sentence(outside: Sequence[Row], rows: int) -> str:
    """Names rows outside of the range of earlier runs, of so many in all."""
    ratios = [_by_earlier(row) for row in outside]
    return (
        f"outside of what this machine has shown, {_who(outside, rows)}: "
        f"{_least_to_most(ratios)} times as long as the middle of the earlier runs, to which "
        "± machine reaches; `mpigauge doctor` lists causes of distorted timings."
    )


def _by_earlier(row: Row) -> float:
    assert row.scatter is not None
    return row.cell.time_p50_s / row.scatter.middle_s


def _least_to_most(ratios: Sequence[float]) -> str:
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    if least == most:
        return least
    return f"{least} to {most}"


def imported_sentences(rows: Iterable[Row]) -> list[str]:
    """Describes imported numbers: a sentence for each statistic, with the programs."""
    imported = [row for row in rows if row.cell.origin == "imported"]
    lines = []
    for statistic, of in grouped(imported, lambda row: row.cell.statistic or "median").items():
        sources = ", ".join(distinct(of, lambda row: row.cell.source))
        lines.append(
            f"{sources}: imported; the time of a row is the {statistic} of a launch, and nothing "
            "is known of its error."
        )
    for placement in distinct(imported, lambda row: row.cell.placement):
        if meaning := meanings(placement):
            word = placement.removeprefix(LABEL)
            lines.append(f"{placement}: '{word}' in the imported text may mean {meaning}.")
    return lines


def _who(concerned: Sequence[Named], rows: int) -> str:
    """The cells by name where they are few, else their number and where most of them are."""
    if len(concerned) <= _MOST_CELLS:
        return name_cells(concerned)
    counts = Counter(row.benchmark for row in concerned)
    most, others = [], len(concerned)
    for benchmark, count in counts.most_common(_MOST_NAMED):
        most.append(f"{benchmark} {count}")
        others -= count
    if others:
        most.append(f"others {others}")
    return f"{len(concerned)} of {rows} rows ({', '.join(most)})"


def noise_sentences(noise: Iterable[Noise]) -> list[str]:
    """The cores on which others took a noticeable share of the time."""
    worst: dict[int, Noise] = {}
    for each in noise:
        if each.cpu not in worst or each.lost_ratio > worst[each.cpu].lost_ratio:
            worst[each.cpu] = each
    lines = []
    for each in worst.values():
        if each.lost_ratio > _NOISY:
            lines.append(
                f"core {each.cpu}: others took {percent(each.lost_ratio)} of its time "
                f"{each.when} a launch; the results are of a shared machine."
            )
    return lines


def skip_sentences(skips: Iterable[Skip]) -> list[str]:
    """One sentence for each reason, whatever the number of launches that met it."""
    lines = []
    for reason, of in grouped(skips, lambda skip: skip.reason).items():
        cells = [_cell_of(skip) for skip in of]
        lines.append(f"{_named(cells)} left out: {reason}.")
    return lines


def name_cells(rows: Iterable[Named]) -> str:
    """Benchmarks with their sizes: PingPong 1 MiB, 4 MiB; Allreduce on 4 ranks 8 B. Of more than a
    few only how many there are: 17 cells of Alltoall, Barrier, Bcast and 2 more benchmarks."""
    cells = distinct(rows, lambda row: (row.benchmark, row.ranks, row.message_bytes))
    names = distinct(cells, lambda cell: cell[0])
    if len(cells) <= _MOST_NAMED or len(names) == 1:
        return _named(cells)
    first = names[:_MOST_NAMED]
    if len(names) > _MOST_NAMED:
        first.append(many(len(names) - _MOST_NAMED, "more benchmark"))
    return f"{len(cells)} cells of {listed(first)}"


def _named(cells: Iterable[tuple[str, int, int]]) -> str:
    """Cells (benchmark, ranks, bytes of a message) as text: PingPong 1 MiB, 4 MiB."""
    sizes: dict[str, dict[str, None]] = {}
    for benchmark, ranks, message_bytes in cells:
        who = f"{benchmark} on {many(ranks, 'rank')}" if ranks != 2 else benchmark
        sizes.setdefault(who, {})[byte_count(message_bytes)] = None
    named = [f"{who} {_listed(list(of))}".rstrip() for who, of in sizes.items()]
    return "; ".join(named)


def _cell_of(skip: Skip) -> tuple[str, int, int]:
    key = skip.key
    name = benchmark_word(str(key.get("suite", FIRST_SUITE)), str(key.get("benchmark", "a cell")))
    return name, key.get("ranks", 2), key.get("message_bytes", -1)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        return f"{shown} and {len(names) - _MOST_NAMED} more"
    return shown


def _wrong(rows: Sequence[Named]) -> str:
    return wrong_data(sum(row.wrong_count for row in rows))


def wrong_data(count: int) -> str:
    elements = "1 element differs" if count == 1 else f"{count} elements differ"
    return f"wrong data: {elements} from the sender's"
