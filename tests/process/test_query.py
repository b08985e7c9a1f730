# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tables over many runs: what is in them, what is left out and said, when they are made anew."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from mpigauge.model.columns import COLUMNS, DERIVED
from mpigauge.model.errors import UserError
from mpigauge.model.fields import fields
from mpigauge.products.browse import apart
from mpigauge.products.browse.apart import ask_apart
from mpigauge.result.library import TABLES, Library, answered, ask, columns_of, memory, write
from mpigauge.result.library import build as building
from mpigauge.result.library import parts as parting
from mpigauge.result.library.faults import ahead
from mpigauge.result.library.parts import place_in, read_parts
from mpigauge.result.library.samples import SAMPLES, add_samples
from mpigauge.runs.store import RunWriter, run_folders
from tests import cells, patience, runs


def asked(root: Path, query: str) -> list[tuple[Any, ...]]:
    return answered(run_folders(root), root, lambda library: ask(library.con, query).rows)


def notes(root: Path) -> list[str]:
    with Library.open(run_folders(root), root) as library:
        return list(library.notes)


def read_again(root: Path) -> list[int]:
    """How many runs an opening of the tables has to read."""
    told: list[int] = []
    with Library.open(run_folders(root), root, lambda _, count: told.append(count)):
        return told[:1]


# --- what is in them ----------------------------------------------------------------------
def test_every_stored_column_and_every_column_of_a_row_is_there() -> None:
    assert set(columns_of("cells")) > {column.name for column in (*COLUMNS, *DERIVED)}
    assert set(columns_of("rows")) > {field.name for field in fields()}
    assert all(TABLES[table][0].name == "run" for table in TABLES)


def test_tables_hold_what_the_run_holds(tmp_path: Path) -> None:
    lines = [
        runs.launch(0),
        *(runs.rank(i, "n1") for i in range(2)),
        *(runs.cell(i, time_p50_s=(i + 1) * 1e-6, moved_bytes=8) for i in range(2)),
        runs.figure(source="HPL 2.3"),
        cells.line("skip", launch=0, key=cells.fields(message_bytes=64), reason="too big"),
        cells.line("error", launch=1, rank=0, message="died"),
        cells.end(),
    ]
    runs.write(tmp_path / "one", lines, host="n1")
    (run,) = asked(
        tmp_path,
        "SELECT run, created, mpi, host, hosts, cpu, status, command, launches, complete, cells, "
        "rows, figures, skips, failures, measuring_s, benchmarks FROM runs",
    )
    created = datetime(2026, 11, 21, 5)
    assert run[:4] == ("one", created, "mpich 5.0.2", "n1")
    assert run[4:8] == (["n1"], "A CPU", "done", "mpigauge run PingPong")
    assert run[8:] == (1, 1, 2, 1, 1, 1, 1, 0.5, ["PingPong", "HPL"])
    assert asked(tmp_path, "SELECT launch, message_bytes, latency_s, time_pure_s FROM cells") == [
        (0, 8, 0.5e-6, None),
        (1, 8, 1e-6, None),
    ]
    ((time, end, low, high, kind, launches, times, flags),) = asked(
        tmp_path,
        "SELECT latency_s, ci_low_s, range_low_s, range_high_s, interval, launches, "
        "launch_times_s, flags FROM rows",
    )
    assert time == pytest.approx(0.75e-6)
    assert (end, low, high, kind, launches) == (None, 1e-6, 2e-6, "range", 2)
    assert times == [1e-6, 2e-6]
    assert isinstance(flags, list)
    assert asked(tmp_path, "SELECT value, unit, source, rank FROM figures") == [
        (41.5, "GFLOP/s", "HPL 2.3", -1)
    ]
    assert asked(tmp_path, "SELECT rank, host, cpuset, init_s FROM ranks") == [
        (0, "n1", "0", None),
        (1, "n1", "1", None),
    ]


def test_a_cell_that_a_resumed_launch_measured_twice_counts_once(tmp_path: Path) -> None:
    twice = [runs.cell(0, time_p50_s=time) for time in (1e-6, 2e-6)]
    runs.write(tmp_path / "one", [runs.launch(), *twice])
    assert asked(tmp_path, "SELECT time_p50_s FROM cells") == [(2e-6,)]
    assert asked(tmp_path, "SELECT time_p50_s, launches FROM rows") == [(2e-6, 1)]
    assert asked(tmp_path, "SELECT cells FROM runs") == [(1,)]


def test_the_figures_unit_stands_beside_its_number(tmp_path: Path) -> None:
    """Columns have one unit each, in their names; figures are the only numbers of any unit."""
    kinds = [runs.figure(unit=unit, value=value) for unit, value in (("s", 1), ("ms", 1000))]
    runs.write(tmp_path / "one", [runs.launch(), *kinds])
    (note,) = notes(tmp_path)
    assert note == "the figure HPL of HPL is in ms, s: compare by unit"
    runs.write(tmp_path / "two", [runs.launch(), runs.figure(name="other", unit="GB")], host="b")
    assert len(notes(tmp_path)) == 1


def test_samples_in_seconds_of_a_call(tmp_path: Path) -> None:
    raw = cells.raw([[100, 110], [120]], taints=[0, 3])
    runs.write(tmp_path / "one", [runs.launch(), runs.cell(calls=10, raw=raw)])
    lost = runs.write(tmp_path / "two", [runs.launch(), runs.cell(raw=raw)], host="b")
    shutil.rmtree(lost / "samples")
    with Library.open(run_folders(tmp_path), tmp_path) as library:
        (said,) = add_samples(library.con, run_folders(tmp_path))
        found = ask(library.con, "SELECT * FROM samples")
    assert said.startswith("left out: samples of two")
    assert list(found.columns) == [field.name for field in SAMPLES]
    assert [row[-6:] for row in found.rows] == [
        (0, 1, 0, *map(pytest.approx, (10e-9, 9.8e-9, 9.9e-9))),
        (1, 1, 0, *map(pytest.approx, (11e-9, 10.8e-9, 10.9e-9))),
        (2, 2, 3, *map(pytest.approx, (12e-9, 11.8e-9, 11.9e-9))),
    ]


# --- made once, and anew when something changed -------------------------------------------
def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    for name in "abc":
        runs.write(tmp_path / name, host=name)
    assert read_again(tmp_path) == [3]
    assert read_again(tmp_path) == []
    with RunWriter.resume(tmp_path / "b") as writer:
        writer.append(runs.cell(1))
    assert read_again(tmp_path) == [1]
    assert asked(tmp_path, "SELECT run, count(*) FROM cells GROUP BY run ORDER BY run") == [
        ("a", 1), ("b", 2), ("c", 1)
    ]  # fmt: skip
    shutil.rmtree(tmp_path / "a")
    (tmp_path / "c").rename(tmp_path / "d")
    assert asked(tmp_path, "SELECT run FROM runs ORDER BY run") == [("b",), ("d",)]
    shutil.rmtree(place_in(tmp_path))
    assert asked(tmp_path, "SELECT run FROM ranks GROUP BY run ORDER BY run") == [("b",), ("d",)]


def test_many_parts_become_few_and_hold_the_same(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    old = [place / ".new-old", place / "damaged", place.parent / "of-a-version"]
    young = [place / ".new-young", place.parent / "of-another"]
    for folder in (*old, *young):
        folder.mkdir(parents=True)
    for folder in old:
        os.utime(folder, (0, 0))
    for number in range(parting.MOST + 4):
        runs.write(tmp_path / f"r{number:02}", host=f"h{number}")
        read_again(tmp_path)
        assert len(read_parts(place_in(tmp_path))) <= parting.MOST
    assert [folder.exists() for folder in (*old, *young)] == [False] * 3 + [True] * 2
    with RunWriter.resume(tmp_path / "r00") as writer:
        writer.append(runs.cell(1))
    counts = asked(tmp_path, "SELECT run, count(*) FROM cells GROUP BY run ORDER BY run")
    assert counts == [(f"r{n:02}", 2 if n == 0 else 1) for n in range(parting.MOST + 4)]


@pytest.mark.parametrize("damage", ["cut", "zeros", "gone", "manifest"])
def test_a_damaged_part_is_made_again(tmp_path: Path, damage: str) -> None:
    runs.write(tmp_path / "one")
    read_again(tmp_path)
    (part,) = read_parts(place_in(tmp_path))
    file = part.folder / ("manifest.json" if damage == "manifest" else "cells.parquet")
    if damage == "gone":
        file.unlink()
    else:
        size = file.stat().st_size
        file.write_bytes(file.read_bytes()[: size // 2] if damage != "zeros" else bytes(size))
    assert asked(tmp_path, "SELECT count(*) FROM cells") == [(1,)]


def test_a_part_that_another_job_removes_in_the_middle_is_no_error(tmp_path: Path) -> None:
    runs.write(tmp_path / "one")
    tries = []

    def question(library: Library) -> list[tuple[Any, ...]]:
        tries.append(1)
        if len(tries) == 1:
            shutil.rmtree(place_in(tmp_path))
        return ask(library.con, "SELECT run FROM ranks").rows

    assert answered(run_folders(tmp_path), tmp_path, question) == [("one",), ("one",)]
    assert len(tries) == 2


def test_where_nothing_can_be_kept_it_is_said_and_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.write(tmp_path / "one")
    make = building.new_part

    def refuse(place: Path) -> Any:
        if tmp_path in place.parents:
            raise PermissionError(13, "Permission denied")
        return make(place)

    monkeypatch.setattr(building, "new_part", refuse)
    with Library.open(run_folders(tmp_path), tmp_path) as library:
        (note,) = library.notes
        assert ask(library.con, "SELECT run FROM runs").rows == [("one",)]
    assert note.startswith("cannot keep tables in ")
    assert note.endswith("Permission denied; they are made each time")


_JOB = """
import sys
from pathlib import Path
from mpigauge.result.library import answered, ask
from mpigauge.runs.store import RunWriter, run_folders
from tests import cells, runs
root, me = Path(sys.argv[1]), sys.argv[2]
for turn in range(4):
    with RunWriter.create(runs.HEADER, cells.cards_text(), root=root, label="job") as writer:
        writer.write_passport({"machine": {"hostname": f"{me}{turn}"}})
        for line in (runs.launch(), *map(runs.cell, range(50)), cells.end()):
            writer.append(line)
    mine = f"SELECT count(*) FROM cells WHERE host LIKE '{me}%'"
    found = answered(run_folders(root), root, lambda library: ask(library.con, mine).rows)
    assert found == [(50 * (turn + 1),)], found
"""


def test_jobs_that_write_and_ask_at_once_in_one_folder(tmp_path: Path, repository: Path) -> None:
    root = tmp_path / "runs"
    root.mkdir()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(repository / "src"), str(repository)])}
    jobs = [
        subprocess.Popen([sys.executable, "-c", _JOB, str(root), me], env=env, cwd=repository)
        for me in "abc"
    ]
    assert [job.wait(120) for job in jobs] == [0, 0, 0]
    assert asked(root, "SELECT count(*), count(DISTINCT run) FROM cells") == [(600, 12)]
    assert [path for path in place_in(root).iterdir() if path.name.startswith(".")] == []
    assert [path for path in root.rglob("*") if "lock" in path.name.lower()] == []


def test_a_run_that_a_file_server_lost_for_a_moment_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it has changed when it is back, neither its size nor its time."""
    runs.write(tmp_path / "one")
    runs.write(tmp_path / "two", host="b")
    with monkeypatch.context() as gone:
        read = Path.read_text
        lost = OSError(errno.ESTALE, os.strerror(errno.ESTALE))

        def read_or_not(path: Path, *rest: Any, **more: Any) -> str:
            if path == tmp_path / "one" / "records.jsonl":
                raise lost
            return read(path, *rest, **more)

        gone.setattr(Path, "read_text", read_or_not)
        gone.setattr(building, "readable", lambda path: path.name != "one")
        assert notes(tmp_path) == [f"left out: cannot read one/records.jsonl: {lost.strerror}"]
    assert asked(tmp_path, "SELECT run FROM runs ORDER BY run") == [("one",), ("two",)]
    assert read_again(tmp_path) == []


# --- what is left out, and said -----------------------------------------------------------
def test_what_cannot_be_read_is_named_and_left_out(tmp_path: Path) -> None:
    runs.write(tmp_path / "good")
    newer = runs.write(tmp_path / "newer", host="b")
    header = json.loads((newer / "run.json").read_text(encoding="utf-8"))
    (newer / "run.json").write_text(json.dumps(header | {"schema": 99}), encoding="utf-8")
    (runs.write(tmp_path / "broken", host="c") / "run.json").write_text('{"schem')
    odd = runs.write(tmp_path / "odd", host="d")
    (odd / "run.json").write_text(json.dumps(header | {"plan": 3, "mpi": [1]}), encoding="utf-8")
    for _ in range(2):  # the second time from the manifest
        said = notes(tmp_path)
        assert any("newer was written by a newer mpigauge (schema 99" in note for note in said)
        assert any("broken/run.json is damaged" in note for note in said)
        assert all(note.startswith("left out: ") for note in said)
    assert asked(tmp_path, "SELECT run FROM runs WHERE run <> 'odd'") == [("good",)]


ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    1 << 70,
    1e400,
    "",
    "x",
    "\ud800",
    "a\0b'",
    [],
    ["x"],
    {},
    {"x": 1},
)


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_whatever_stands_in_a_record_or_header_is_no_end(tmp_path: Path, odd: Any) -> None:
    """Each key of each record and of run.json in turn; the run beside it is always read."""
    records = [runs.launch(), runs.rank(), runs.cell(raw=cells.raw([[10]])), runs.figure()]
    odd_runs = [
        json.dumps(json.loads(line) | {key: odd})
        for line in (*records, cells.end())
        for key in json.loads(line)
    ]
    good = runs.write(tmp_path / "good")
    head = json.loads((good / "run.json").read_text(encoding="utf-8"))
    first = runs.write(tmp_path / "all", host="b")
    (first / "records.jsonl").write_text("\n".join(odd_runs), encoding="utf-8")
    for number, key in enumerate(head):
        made = runs.write(tmp_path / f"{number}", host=key)
        (made / "run.json").write_text(json.dumps(head | {key: odd}), encoding="utf-8")
        (made / "passport.json").write_text(json.dumps({"machine": odd}), encoding="utf-8")
    with Library.open(run_folders(tmp_path), tmp_path) as library:
        found = {table: ask(library.con, f"FROM {table}").rows for table in TABLES}
    assert [row[0] for row in found["ranks"]].count("good") == 2


def test_damaged_pieces_of_a_run_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    run = runs.write(tmp_path / "one")
    for name in ("passport.json", "status.json", "cards.json"):
        (run / name).write_text("{", encoding="utf-8")
    with (run / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"record":"cell","launch":\n' + runs.cell(5)[:50])
    said = " ".join(notes(tmp_path))
    for words in ("passport.json is damaged", "status.json is damaged", "line 6 of", "line 7 of"):
        assert words in said
    assert asked(tmp_path, "SELECT cells, status, len(notes) FROM runs") == [(1, "unfinished", 4)]


def test_a_run_that_is_being_written_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    progress = {
        "key": cells.fields(message_bytes=64), "time_p50_s": 3e-6, "ci_low_s": None,
        "ci_high_s": None, "time_scale": 0.5, "moved_bytes": 8, "messages": 1, "samples": 4,
        "rounds": 1,
    }  # fmt: skip
    with RunWriter.create(runs.HEADER, cells.cards_text(), output=tmp_path / "now") as writer:
        assert asked(tmp_path, "SELECT status, cells FROM runs") == [("unfinished", 0)]
        for line in (runs.launch(), runs.cell()):
            writer.append(line)
        assert asked(tmp_path, "SELECT count(*) FROM cells") == [(1,)]
        writer.append(cells.line("progress", launch=0, **progress))
        found = asked(tmp_path, "SELECT message_bytes, stop FROM cells ORDER BY message_bytes")
        assert found == [(8, "precise"), (64, "interrupted")]
        writer.append(cells.end())
        writer.finish("done")
    assert asked(tmp_path, "SELECT status, cells FROM runs") == [("done", 1)]


def test_a_copy_is_named_and_counts_once(tmp_path: Path) -> None:
    first = runs.write(tmp_path / "b-first")
    shutil.copytree(first, tmp_path / "a-copy")
    runs.write(tmp_path / "c-other", host="other")  # the same command in the same second
    assert notes(tmp_path) == ["left out: b-first is a copy of a-copy"]
    assert asked(tmp_path, "SELECT run FROM ranks GROUP BY run ORDER BY run") == [
        ("a-copy",), ("c-other",)
    ]  # fmt: skip
    with RunWriter.resume(first) as writer:
        writer.append(runs.cell(1))
    assert notes(tmp_path) == ["left out: a-copy is a copy of b-first"]
    shutil.rmtree(first)
    assert notes(tmp_path) == []
    assert asked(tmp_path, "SELECT run FROM runs ORDER BY run") == [("a-copy",), ("c-other",)]


def test_runs_of_one_command_in_one_second_are_no_copies(tmp_path: Path) -> None:
    """As two files that are imported at once: nothing but their records tells them apart."""
    for name, time_s in (("a", 1e-6), ("b", 2e-6)):
        runs.write(tmp_path / name, [runs.launch(), runs.cell(time_p50_s=time_s)])
    assert notes(tmp_path) == []
    assert asked(tmp_path, "SELECT count(*) FROM rows") == [(2,)]


def test_a_copy_that_was_made_while_it_was_measured_is_known(tmp_path: Path) -> None:
    whole = runs.write(tmp_path / "whole")
    shutil.copytree(whole, tmp_path / "early")
    (tmp_path / "early" / "status.json").unlink()
    records = tmp_path / "early" / "records.jsonl"
    records.write_bytes(records.read_bytes()[:-30])
    assert notes(tmp_path)[0] == "left out: early is a copy of whole"
    assert asked(tmp_path, "SELECT run FROM runs") == [("whole",)]


def test_names_in_notes_hold_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.write(tmp_path / "runs" / "one")
    (run / "passport.json").write_text("{", encoding="utf-8")
    (runs.write(tmp_path / "runs" / "two", host="b") / "run.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    said = notes(Path("runs"))
    assert said == [
        "left out: two/run.json is damaged: it names no schema",
        "one/passport.json is damaged and left out",
    ]
    (tmp_path / "runs").rename(tmp_path / "moved")
    assert notes(tmp_path / "moved") == said


def test_a_clock_that_was_set_back_is_said(tmp_path: Path) -> None:
    times = ["2026-11-21T05:00:01Z", "2026-11-21T04:00:01Z", "2026-11-21T04:00:09Z"]
    runs.write(tmp_path / "back", [runs.launch(i, time) for i, time in enumerate(times)])
    runs.write(tmp_path / "ahead", header={"created": "2999-01-01T00:00:00Z"})
    future, back = notes(tmp_path)
    assert future.startswith("ahead was created at 2999-01-01T00:00:00Z, which is in the future")
    assert back.startswith(
        "launch 1 of back claims to begin at 2026-11-21T04:00:01Z, before launch 0"
    )
    assert asked(tmp_path, "SELECT count(*) FROM runs") == [(2,)]


def test_clocks_that_differ_by_minutes_are_not_said() -> None:
    created = {"a": "2026-11-21T05:05:00Z", "b": "no time"}
    assert ahead(created, datetime(2026, 11, 21, 5, tzinfo=timezone.utc)) == []


# --- queries ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT lattency_s FROM rows", "no column 'lattency_s'; did you mean 'latency_s'?"),
        ("SELECT rows.cals FROM rows", "no column 'cals'; did you mean 'calls'?"),
        ("SELECT * FROM row", "there is no table 'row'; did you mean 'rows'?"),
        ("SELECT * FROM nothing", "there is no table 'nothing'; there are runs, rows, cells,"),
        ("SELEC 1", 'this is not a query: syntax error at or near "SELEC"'),
        ("", "there are 0 queries"),
        ("SELECT 1; SELECT 2", "there are 2 queries in"),
        ("DROP VIEW runs", "a query may only read, and DROP is refused"),
        ("COPY runs TO '{}/x.csv'", "a query may only read, and COPY is refused"),
        ("ATTACH '{}/x.csv'", "a query may only read, and ATTACH is refused"),
        ("EXPLAIN ANALYZE COPY runs TO '{}/x.csv'", "and EXPLAIN is refused"),
        ("WITH x AS (COPY runs TO '{}/x.csv') SELECT * FROM x", ""),
        ("SELECT foo(mpi) FROM runs", "this is not a query: Scalar Function with name foo"),
        ("SELECT CAST(mpi AS INT) FROM runs", "the query failed: Could not convert string"),
    ],
)
def test_what_is_no_query_or_would_write(tmp_path: Path, query: str, says: str) -> None:
    runs.write(tmp_path / "one")
    with pytest.raises(UserError) as error:
        asked(tmp_path, query.format(tmp_path))
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "x.csv").exists()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    runs.write(tmp_path / "one")
    with pytest.raises(UserError, match="a file cannot be read or written: No files found"):
        asked(tmp_path, "SELECT * FROM '/nowhere.csv'")


def test_answers_as_files(tmp_path: Path) -> None:
    import duckdb

    runs.write(tmp_path / "runs" / "one")
    root = tmp_path / "runs"
    query = "SELECT run, 0 / 0 AS nothing, now() AS time, flags FROM cells;"
    with Library.open(run_folders(root), root) as library:
        for form in ("csv", "json", "parquet"):
            write(library.con, query, form, tmp_path / form)
        assert len(ask(library.con, query).rows) == 1
    assert (tmp_path / "csv").read_text().startswith("run,nothing,time,flags\none,")
    (row,) = json.loads((tmp_path / "json").read_text())
    assert (row["run"], row["nothing"]) == ("one", None)
    stored = f"SELECT run FROM read_parquet('{tmp_path}/parquet')"
    assert duckdb.execute(stored).fetchall() == [("one",)]


# --- limits ---------------------------------------------------------------------------------
@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name in ("one", "other"):
        runs.write(tmp_path / name, [runs.launch(), runs.cell(), cells.end()])
    return tmp_path


def test_a_query_for_too_much_memory_fails_alone(store: Path) -> None:
    before = [resource.getrlimit(limit) for limit in memory._LIMITS]
    with Library.open(run_folders(store), store) as library:
        with (
            memory.limited_memory(library.con, 128 << 20),
            pytest.raises(UserError, match=f"^{memory.TOO_MUCH}$"),
        ):
            ask(library.con, "SELECT length(repeat('x', 1000000000))")
        assert ask(library.con, "SELECT count(*) FROM runs").rows
    assert [resource.getrlimit(limit) for limit in memory._LIMITS] == before


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT sum(x) FROM range(1000000000000) AS t(x) WHERE x % 7 = 3", "given up after 1 s"),
        ("SELECT length(repeat('x', 3000000000))", memory.TOO_MUCH),
        ("SELECT nothing FROM runs", "there is no column 'nothing'"),
        ("SELECT content FROM read_text('/etc/passwd')", "disabled by configuration"),
        ("COPY runs TO '/tmp/x'", "a query may only read"),
    ],
)
def test_a_query_apart_ends_at_its_limits(store: Path, query: str, why: str) -> None:
    seconds = 1.0 if "range" in query else patience.USUAL_S
    with pytest.raises(UserError, match=why):
        ask_apart(run_folders(store), store, query, ("runs",), seconds)


def test_a_query_apart_is_answered_as_here(store: Path) -> None:
    query = "SELECT run, cells FROM runs ORDER BY run"
    with Library.open(run_folders(store), store) as library:
        here = ask(library.con, query)
    assert ask_apart(run_folders(store), store, query, ("runs",), patience.USUAL_S) == here


def test_a_query_apart_ends_when_nobody_waits_for_it(store: Path) -> None:
    """The process that asked may be killed; its alarm ends it."""
    question = {
        "runs": {}, "root": str(store), "tables": [], "seconds": 1.0,
        "query": "SELECT sum(x) FROM range(1000000000000) AS t(x) WHERE x % 7 = 3",
    }  # fmt: skip
    words = [sys.executable, "-c", apart._START, json.dumps(sys.path)]
    done = subprocess.run(
        words, input=json.dumps(question), text=True, capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGALRM
