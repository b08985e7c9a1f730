# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What options name that is not in them, looked up before anything is planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.measuring.plan import read_request
from mpigauge.model.errors import UserError
from mpigauge.session.lookups import look_up
from tests import asked


def test_folders_are_absolute_as_ranks_may_start_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    said = {"dir": "a, ."}
    assert asked.request(said).suite_options == {"dir": f"{tmp_path / 'a'},{tmp_path}"}


def test_the_text_of_a_rankfile_is_part_of_the_request(tmp_path: Path) -> None:
    file = tmp_path / "ranks"
    file.write_text("rank 0=+n0 slot=0\n")
    found = asked.request({"place": (f"l3,rankfile:{file}",)})
    assert found.rankfiles == {str(file): "rank 0=+n0 slot=0\n"}


def test_variables_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    monkeypatch.setenv("MINE", "x")
    said = {"threads": "1,omp", "env": ("MINE",)}
    found = read_request(said, look_up(said))
    assert found.suite_options == {"threads": "1,6"}
    assert found.env == {"MINE": "x"}


def test_the_program_of_an_agent_has_its_path() -> None:
    path, *words = look_up({"rsh": "sh -p 50000"}).agent
    assert Path(path).is_absolute()
    assert Path(path).name == "sh"
    assert words == ["-p", "50000"]


def test_whoever_names_no_seed_gets_another_one_each_time() -> None:
    first, second = (read_request({}, look_up({})).seed for _ in range(2))
    assert first != second
    said = {"seed": 7}
    assert read_request(said, look_up(said)).seed == 7


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"dir": "/nowhere"}, "--dir: there is no folder /nowhere; make it, or name another"),
        ({"sizes_file": "/no/file"}, "cannot read the file of sizes /no/file"),
        ({"hostfile": "/no/file"}, "--hostfile: cannot read /no/file"),
        ({"place": ("rankfile:/no/file",)}, "--place rankfile:/no/file: cannot read the rankfile"),
        ({"rsh": "no-such-agent -p 1"}, "--rsh: there is no program 'no-such-agent'"),
        ({"blas": ("openblass",)}, "there is no BLAS called 'openblass'; did you mean 'openblas'"),
        ({"compilers": ("no-such-compiler -O2",)}, "there is no program no-such-compiler here"),
    ],
)
def test_what_is_not_there_is_named(said: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        look_up(said)
