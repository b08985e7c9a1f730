# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is suspicious about a result, in sentences that name the cells concerned."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mpigauge.model.between import LEAST_RUNS
from mpigauge.model.cards import FIRST_SUITE, benchmark_word
from mpigauge.model.flags import flags_of
from mpigauge.model.units import byte_count, listed, many, percent, plus_minus
from mpigauge.result.stats.history import STARTING_SD

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
    "unconverged": "the wanted precision was not reached; more time (--in) or launches help",
    "cold-sensitive": "the first call after other work takes much longer than the next ones",
    "sync": "the common clock of the ranks is less exact than this operation needs",
    "clock": "the operation is so short that the clock's own cost and step count",
    "detours": "as many samples are longer by a detour as were found on these cores, and without "
    "them it would be as precise as wanted",
    "oversubscribed": "more ranks than cores: the times are those of the scheduler, not of MPI; "
    "collectives start after a barrier, not by the clock",
}
_MOST_NAMED = 3
_MOST_CELLS = 6
_NOISY = 0.02


def sentences(rows: Sequence[Row], changed: bool = False, ended_early: bool = False) -> list[str]:
    """One sentence for wrong data, then one for each flag, each with the cells concerned.
    `changed`: the machine did while they were measured, so that no more launches would help;
    `ended_early`: launches ended since more of them in a row would hardly have helped."""
    wrong = [row for row in rows if row.wrong_count]
    said = [f"{name_cells(wrong)}: {_wrong(wrong)}."] if wrong else []
    for flag in flags_of(rows):
        concerned = [row for row in rows if flag in row.flags]
        who = _who(concerned, len(rows))
        meaning = MEANING.get(flag, "unknown flag")
        if changed and flag == "unconverged":
            meaning = "the wanted precision was not reached, since the machine changed meanwhile"
        elif ended_early and flag == "unconverged":
            meaning = (
                "the wanted precision was not reached, and twenty launches in a row would reach it "
                "in few of them; measure for longer (--in), or on a quieter machine"
            )
        said.append(f"{flag}, {who}: {meaning}.")
    return said


def change_sentence(found: Change, starts: Mapping[int, str]) -> str:
    """When the machine changed in the middle of a run, by how much, and what each side knows."""
    launches = found.before + found.after
    at = starts.get(found.launch, "")
    when = f" ({at})" if at else ""
    sides = [
        ("before", found.before, found.error_before),
        ("after", found.after, found.error_after),
    ]
    known = [f"those {where} it ({count}) agree to {plus_minus(error)}"
             for where, count, error in sides if error == error]  # fmt: skip
    return (
        f"The machine changed in the middle: from launch {found.before + 1} of {launches} on{when} "
        f"calls took {found.ratio:.2f} times as long, in the median over "
        f"{many(found.cells, 'cell')}"
        + (f"; launches {', '.join(known).removeprefix('those ')}, in the median" if known else "")
        + ". ± is of both states together, and more launches would not make it narrower: see what "
        "else ran then (`mpigauge doctor`), and measure again."
    )


def machine_sentences(rows: Sequence[Row]) -> list[str]:
    """What the ± for this machine rests on where that is little, and rows that are outside of what
    the machine has shown."""
    said = []
    new = [row for row in rows if row.scatter and not row.scatter.known]
    if new:
        runs = max(row.scatter.runs for row in new if row.scatter)
        known = any(row.scatter and row.scatter.known for row in rows)
        of = f" for {_who(new, len(rows))}" if known else ""
        said.append(
            f"This machine is not known yet{of} ({many(runs, 'earlier run')} of the {LEAST_RUNS} "
            f"that it takes): ± machine rests on a starting value, {percent(STARTING_SD)} from run "
            "to run."
        )
    outside = [row for row in rows if row.scatter and row.scatter.outside]
    if outside:
        ratios = [_by_earlier(row) for row in outside]
        said.append(
            f"outside of what this machine has shown, {_who(outside, len(rows))}: "
            f"{_least_to_most(ratios)} times as long as the middle of the earlier runs, to which "
            "± machine reaches; `mpigauge doctor` looks for what spoils times."
        )
    return said


def _by_earlier(row: Row) -> float:
    assert row.scatter is not None
    return row.cell.time_p50_s / row.scatter.middle_s


def _least_to_most(ratios: Sequence[float]) -> str:
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return least if least == most else f"{least} to {most}"


def imported_sentences(rows: Iterable[Row]) -> list[str]:
    """What the numbers of others are: one sentence for each statistic, with the programs."""
    said: dict[str, list[str]] = {}
    for row in rows:
        if row.cell.origin == "imported":
            said.setdefault(row.cell.statistic or "median", []).append(row.cell.source)
    return [
        f"{', '.join(_in_order(sources))}: imported; the time of a row is the {statistic} of a "
        "launch, and nothing is known of its error."
        for statistic, sources in said.items()
    ]


def _who(concerned: Sequence[Row], rows: int) -> str:
    """The cells by name where they are few, else their number and where most of them are."""
    if len(concerned) <= _MOST_CELLS:
        return name_cells(concerned)
    counts = Counter(row.benchmark for row in concerned)
    most = [f"{benchmark} {count}" for benchmark, count in counts.most_common(_MOST_NAMED)]
    others = len(concerned) - sum(count for _, count in counts.most_common(_MOST_NAMED))
    named = ", ".join(most) + (f", others {others}" if others else "")
    return f"{len(concerned)} of {rows} rows ({named})"


def noise_sentences(noise: Iterable[Noise]) -> list[str]:
    """The cores on which others took a noticeable share of the time."""
    worst: dict[int, Noise] = {}
    for each in noise:
        if each.cpu not in worst or each.lost_ratio > worst[each.cpu].lost_ratio:
            worst[each.cpu] = each
    return [
        f"core {each.cpu}: others took {percent(each.lost_ratio)} of its time "
        f"{each.when} a launch; the results are of a shared machine."
        for each in worst.values()
        if each.lost_ratio > _NOISY
    ]


def skip_sentences(skips: Iterable[Skip]) -> list[str]:
    """One sentence for each reason, whatever the number of launches that met it."""
    by_reason: dict[str, list[tuple[str, int, int]]] = {}
    for skip in skips:
        by_reason.setdefault(skip.reason, []).append(_cell_of(skip))
    return [f"{_named(cells)} left out: {reason}." for reason, cells in by_reason.items()]


def name_cells(rows: Iterable[Row]) -> str:
    """Benchmarks with their sizes: PingPong 1 MiB, 4 MiB; Allreduce on 4 ranks 8 B. Of more than a
    few only how many there are: 17 cells of Alltoall, Barrier, Bcast and 2 more benchmarks."""
    cells = list(dict.fromkeys((row.benchmark, row.ranks, row.message_bytes) for row in rows))
    names = list(dict.fromkeys(name for name, _, _ in cells))
    if len(cells) <= _MOST_NAMED or len(names) == 1:
        return _named(cells)
    left = len(names) - _MOST_NAMED
    first = [*names[:_MOST_NAMED], *([many(left, "more benchmark")] if left > 0 else [])]
    return f"{len(cells)} cells of {listed(first)}"


def _named(cells: Iterable[tuple[str, int, int]]) -> str:
    sizes: dict[str, list[str]] = {}
    for benchmark, ranks, message_bytes in cells:
        who = f"{benchmark} on {many(ranks, 'rank')}" if ranks != 2 else benchmark
        sizes.setdefault(who, []).append(byte_count(message_bytes))
    return "; ".join(f"{who} {_listed(_in_order(of))}".rstrip() for who, of in sizes.items())


def _cell_of(skip: Skip) -> tuple[str, int, int]:
    key = skip.key
    name = benchmark_word(str(key.get("suite", FIRST_SUITE)), str(key.get("benchmark", "a cell")))
    return name, key.get("ranks", 2), key.get("message_bytes", -1)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")


def _in_order(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _wrong(rows: Sequence[Row]) -> str:
    return wrong_data(sum(row.wrong_count for row in rows))


def wrong_data(count: int) -> str:
    elements = "1 element differs" if count == 1 else f"{count} elements differ"
    return f"wrong data: {elements} from what was sent"
