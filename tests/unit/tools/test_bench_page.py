# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The table of bench/README.md, and how results come into it (bench/record.py)."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tools.bench_page import BEGIN, BENCH, END, Program, Result, is_current, page, programs, store
from tools.bench_page import results as stored_results

NOT_FOR_PEOPLE = {"record", "common"}
LONGEST_FIGURES = 150
RESULT = Result("python bench/fast.py", "2026-11-26", "abc", "2 cores", "kept", "0.5 s")
PROGRAM = '''"""Is it fast?

More about that.
"""
import sys
PROMISE = (
    "less than "
    "1 s"
)
print("# a table")
print("\\n{last}")
sys.exit({status})
'''


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text(f"# Page\n\n{BEGIN}{END}\nMore.\n")
    write_program(tmp_path, "kept: 0.5 s", 0)
    (tmp_path / "helper.py").write_text('"""No program."""\n')
    return tmp_path


def write_program(folder: Path, last: str, status: int) -> None:
    (folder / "fast.py").write_text(PROGRAM.format(last=last, status=status))


@pytest.fixture
def record(bench: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("record")
    monkeypatch.setattr(importlib.import_module("common"), "HERE", bench)
    return module


def test_the_page_is_up_to_date() -> None:
    assert is_current(BENCH), "run python tools/bench_page.py"


def test_each_program_has_a_question_a_promise_and_a_last_line() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in BENCH.glob("*.py")}
    for_people = {name for name, text in texts.items() if "ArgumentParser(" in text}
    assert {each.name for each in programs(BENCH)} == for_people - NOT_FOR_PEOPLE
    for program in programs(BENCH):
        assert program.question.endswith("?"), program
        assert "common.conclude(" in texts[program.name], program


def test_each_stored_result_is_of_a_program_and_fits_a_line() -> None:
    names = {each.name for each in programs(BENCH)}
    for path in (BENCH / "results").iterdir():
        assert path.stem in names
        for result in stored_results(path.stem, BENCH):
            assert result.command.startswith(f"python bench/{path.stem}.py")
            assert result.verdict in ("kept", "MISSED", "UNDECIDED")
            assert 0 < len(result.figures) <= LONGEST_FIGURES, result


def test_question_and_promise_are_read_without_an_import(bench: Path) -> None:
    assert programs(bench) == [Program("fast", "Is it fast?", "less than 1 s")]


def test_the_table_shows_the_newest_result_first(bench: Path) -> None:
    text = (bench / "README.md").read_text()
    assert "| [fast](fast.py) | Is it fast? | less than 1 s | none stored |\n" in page(text, bench)
    store("fast", RESULT, bench)
    missed = RESULT._replace(command="python bench/fast.py --mpi a", date="2026-11-27")
    store("fast", missed._replace(verdict="MISSED", figures="2 s | 3 s"), bench)
    made = page(text, bench)
    assert "| 2026-11-27 `--mpi a` **MISSED**: 2 s \\| 3 s<br>2026-11-26 kept: 0.5 s |\n" in made
    assert made.startswith("# Page\n\n")
    assert made.endswith("\nMore.\n")
    assert page(made, bench) == made


def test_a_result_takes_the_place_of_the_last_one_of_its_command(bench: Path) -> None:
    other = RESULT._replace(command="python bench/fast.py --mpi a")
    for result in (RESULT, other, RESULT._replace(figures="0.4 s")):
        store("fast", result, bench)
    assert stored_results("fast", bench) == [RESULT._replace(figures="0.4 s"), other]


@pytest.mark.parametrize(("verdict", "status"), [("kept", 0), ("MISSED", 1), ("UNDECIDED", 1)])
def test_a_run_is_stored_with_its_last_line(
    record: ModuleType,
    bench: Path,
    capfd: pytest.CaptureFixture[str],
    verdict: str,
    status: int,
) -> None:
    write_program(bench, f"{verdict}: 0.5 s", status)
    assert record.main(["fast", "--mpi", "a b"]) == status
    assert capfd.readouterr().out == f"# a table\n\n{verdict}: 0.5 s\n"
    (result,) = stored_results("fast", bench)
    assert result.command == "python bench/fast.py --mpi 'a b'"
    assert (result.verdict, result.figures) == (verdict, "0.5 s")
    assert "cores" in result.machine
    assert result.commit
    assert is_current(bench)


@pytest.mark.parametrize(
    ("last", "status", "returned"),
    [("kept: 0.5 s", 2, 2), ("there is no MPI", 0, 2), ("Traceback", 1, 1), ("kept: ", 0, 2)],
)
def test_nothing_is_stored_of_a_run_without_a_result(
    record: ModuleType,
    bench: Path,
    capsys: pytest.CaptureFixture[str],
    last: str,
    status: int,
    returned: int,
) -> None:
    write_program(bench, last, status)
    assert record.main(["fast"]) == returned
    assert "nothing is stored" in capsys.readouterr().err
    assert stored_results("fast", bench) == []


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["fats"], "there is no 'fats'; did you mean 'fast'?"),
        (["fast", "--quick"], "--quick: fast would only be tried"),
    ],
)
def test_what_cannot_be_stored_is_not_run(
    record: ModuleType, capsys: pytest.CaptureFixture[str], words: list[str], error: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        record.main(words)
    assert ended.value.code == 2
    output, errors = capsys.readouterr()
    assert error in errors
    assert not output


@pytest.mark.parametrize(
    ("is_kept", "line", "status"),
    [(True, "kept: 1 s", 0), (False, "MISSED: 1 s", 1), (None, "UNDECIDED: 1 s", 1)],
)
def test_the_last_line_has_the_verdict_and_the_figures(
    record: ModuleType,
    capsys: pytest.CaptureFixture[str],
    is_kept: bool | None,
    line: str,
    status: int,
) -> None:
    assert record.common.conclude(is_kept, "1 s") == status
    assert capsys.readouterr().out == f"\n{line}\n"
