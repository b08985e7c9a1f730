# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What docs/howto/many-runs.md says of the tables is so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.result.library import TABLES, columns_of

if TYPE_CHECKING:
    from pathlib import Path


def test_the_table_of_tables_is_true(repository: Path) -> None:
    page = (repository / "docs/howto/many-runs.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    assert {name for name, _ in lines} == set(TABLES)
    for table, words in lines:
        named = set(re.findall(r"`(\w+)`", words))
        assert named <= set(columns_of(table)), table
    assert page.count("`run`, `created` and `mpi`") == 1
    assert all(
        [f.name for f in fields[:3]] == ["run", "created", "mpi"] for fields in TABLES.values()
    )
