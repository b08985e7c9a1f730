# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Errors that say nothing of a value are printed as unknown, and ranges are explained."""

from __future__ import annotations

import pytest

from mpigauge.model.row import Estimate, error_words
from mpigauge.products.quick.present import RANGES, picture
from mpigauge.result.stats.launches import rows
from tests import cells


@pytest.mark.parametrize("kind", ["range", "interval"])
def test_an_error_of_ten_times_the_value_is_unknown(kind: str) -> None:
    huge = error_words(Estimate(1.0, 0.5, 106117.0), kind)
    assert "unknown" in huge
    assert "%" not in huge


@pytest.mark.parametrize(("launches", "is_explained"), [(3, True), (8, False)])
def test_quick_explains_the_sign_of_a_range(launches: int, is_explained: bool) -> None:
    measured = [
        cells.cell(launch=launch, message_bytes=8, time_p50_s=1e-6 * (1 + 0.01 * launch))
        for launch in range(launches)
    ]
    text = " ".join(picture(rows(measured, 0.05), 0.05))
    assert (RANGES in text) == is_explained
    assert ("…" in text) == is_explained
