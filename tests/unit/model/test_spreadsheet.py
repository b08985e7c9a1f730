# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cells of CSV are text or numbers, never formulas."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from mpigauge.model.spreadsheet import csv_text


@pytest.mark.parametrize(
    ("value", "cell"),
    [("=1+1", "'=1+1"), ("+x", "'+x"), ("-rf", "'-rf"), ("@SUM(A1)", "'@SUM(A1)"),
     ("\t=1", "'\t=1"), (["=1", "a"], "'=1;a"), ("-1.5e-6", "-1.5e-6"), (-1.5, "-1.5"),
     ("a=1", "a=1"), ("", ""), (None, ""), (True, "1"), ("-", "'-"), ("-1+2", "'-1+2")],
)  # fmt: skip
def test_no_cell_is_a_formula(value: Any, cell: str) -> None:
    (row,) = csv.reader(io.StringIO(csv_text([[value, "end"]])))
    assert row == [cell, "end"]
