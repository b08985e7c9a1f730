# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

from mpigauge.model.flags import LETTERS, legend, letters
from mpigauge.model.record import Noise, Skip
from mpigauge.result.stats.fit import in_two_ranges
from mpigauge.result.stats.headline import headline
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.remarks import MEANING, noise_sentences, sentences, skip_sentences
from tests import cells

FLAGS = ["tainted", "drift", "bimodal", "unconverged", "cold-sensitive", "sync", "clock",
         "detours", "oversubscribed", "shared-gpu", "aggressors"]  # fmt: skip


def test_every_flag_has_a_letter_of_its_own_and_a_meaning() -> None:
    assert set(FLAGS) == set(LETTERS) == set(MEANING)
    assert len(set(LETTERS.values())) == len(LETTERS)


def test_a_sentence_names_the_cells() -> None:
    found = rows(
        [
            cells.cell(message_bytes=1 << 20, flags=["bimodal"]),
            cells.cell(message_bytes=8),
            cells.cell("Bcast", ranks=4, message_bytes=8, flags=["bimodal"]),
        ]
    )
    (sentence,) = sentences(found)
    assert sentence.startswith("bimodal, PingPong 1 MiB; Bcast on 4 ranks 8 B: the samples")
    assert [letters(row) for row in found] == ["", "B", "B"]
    assert legend(found) == ["B = bimodal"]


def test_many_cells_are_not_all_named() -> None:
    found = rows([cells.cell(message_bytes=1 << i, flags=["drift"]) for i in range(20)])
    assert sentences(found)[0].startswith("drift, 20 of 20 rows (PingPong 20): early and late")


def test_wrong_data_comes_first() -> None:
    found = rows([cells.cell(message_bytes=8, wrong_count=3, flags=["drift"])])
    assert sentences(found)[0] == ("PingPong 8 B: wrong data: 3 elements differ from the sender's.")
    assert letters(found[0]) == "D!"


def test_quiet_results_need_no_words() -> None:
    assert sentences(rows([cells.cell()])) == []


def test_noise_is_said_once_a_core() -> None:
    lost = [0.5, 0.6, 0.001]
    noise = [
        Noise(launch, 0, "before", cpu, 0.1, 9, ratio, 1e-3)
        for launch, (cpu, ratio) in enumerate(zip([3, 3, 4], lost, strict=True))
    ]
    (sentence,) = noise_sentences(noise)
    assert sentence.startswith("core 3: others took 60 % of its time before a launch")


def test_a_reason_to_skip_is_said_once() -> None:
    keys = [cells.fields("Alltoall", message_bytes=n) for n in (8, 16)]
    skips = [Skip(launch, key, "no memory") for launch in (0, 1) for key in keys]
    assert skip_sentences(skips) == ["Alltoall 8 B, 16 B left out: no memory."]


def test_headline_takes_the_best_of_each() -> None:
    measured = [
        cells.cell(message_bytes=n, time_p50_s=2e-6 + 2e-10 * n, moved_bytes=n, messages=1)
        for n in (0, 8, 1024, 1 << 20)
    ]
    band = [
        cells.cell("Uniband", message_bytes=n, time_p50_s=1e-5, messages=256, inflight=256,
                   time_scale=1.0) for n in (0, 8)
    ]  # fmt: skip
    head = headline(rows(measured + band))
    assert head.zero is not None
    assert head.zero.message_bytes == 0
    assert head.peak is not None
    assert head.peak.message_bytes == 1 << 20
    assert head.line is not None
    assert round(head.line.half_bandwidth_bytes.value) == 10_000
    assert head.message_rate is not None
    assert round(head.message_rate.value) == 25_600_000


def test_a_line_whose_alpha_is_below_nothing_is_no_headline() -> None:
    """Large messages whose time grows faster and faster: their line starts below zero."""
    sizes = [0, *(1 << i for i in range(23))]
    bending = {n: 1e-6 + 1e-10 * n + 2e-17 * n * n for n in sizes}
    measured = [cells.cell(message_bytes=n, time_p50_s=t) for n, t in bending.items()]
    small, large = in_two_ranges(sorted(bending.items())) or (None, None)
    assert small is not None
    assert large is not None
    assert large.alpha_s.value < 0 < small.alpha_s.value
    head = headline(rows(measured))
    assert [line.last_bytes for line in head.ranges] == [small.last_bytes]


def test_headline_of_other_benchmarks_is_empty() -> None:
    assert headline(rows([cells.cell("Bcast")])).empty


def test_letters_stand_in_one_order() -> None:
    found = rows([cells.cell(message_bytes=0, flags=["clock", "tainted", "new"])])
    assert letters(found[0]) == "TK?"
