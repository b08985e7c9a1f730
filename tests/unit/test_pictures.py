# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pictures in README and the documentation show what the program prints today."""

from __future__ import annotations

import pytest

from tools import pictures


def test_pictures_are_what_is_printed_today(capsys: pytest.CaptureFixture[str]) -> None:
    assert pictures.main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", ["quick.svg", "latency.svg"])
def test_pictures_need_no_network(name: str) -> None:
    text = (pictures.FOLDER / name).read_text(encoding="utf-8")
    assert text.replace("http://www.w3.org/2000/svg", "").count("http") == 0
    assert "url(" not in text.replace("url(#", "")
