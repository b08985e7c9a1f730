# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge import: what other programs printed as a run like ours."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from mpigauge import __version__
from mpigauge.cli.main import run
from mpigauge.model.errors import RunError
from mpigauge.model.record import Figure, encode, parse
from mpigauge.products.browse.series import points, series
from mpigauge.result.library import Library, answered
from mpigauge.runs.readers import READERS, Text
from mpigauge.runs.store import Run, list_runs, load, run_folders, writer
from mpigauge.runs.store.imported import is_dated, removed_on, write_imported
from mpigauge.runs.store.writer import DEFAULT_ROOT, RunWriter

GOLDEN = Path(__file__).parents[3] / "golden"
PINGPONG = GOLDEN / "imb/mpich-MPI1-pingpong-default-np2.txt"
STREAMS = [GOLDEN / f"printed/ember-stream-{where}.txt" for where in ("local", "remote")]
CUT = GOLDEN / "printed/orfeo-map-by-socket-partial.txt"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_folder_like_that_of_any_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", str(PINGPONG), "--output", "a", "--format", "csv"]) == 0
    shown = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(shown) == 24
    assert {(row["origin"], row["source"], row["mode"]) for row in shown} == {
        ("imported", "IMB 2021.11", "classic")
    }
    assert {row["statistic"] for row in shown} == {"mean over repetitions, slowest rank"}
    stored = load(Path("a"))
    assert (len(stored.cells), stored.damaged) == (24, ())
    assert stored.complete == {0}
    assert [run.status for run in list_runs(Path())] == ["done"]


def test_the_table_says_whose_numbers_these_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", str(PINGPONG)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("imported from IMB 2021.11, from ")
    assert "PingPong · 2 ranks · byte · classic · imported · IMB 2021.11 · 1 launch" in text
    assert "the mean over repetitions, slowest" in text
    assert "nothing is known of its error" in text


STENCIL = """# Intel(R) MPI Benchmarks 2021.7, P2P part
# Benchmarking Stencil2D
# #processes = 4
       #bytes #repetitions      t[usec]   Mbytes/sec      Msg/sec
            8         1000         3.32         1.69       211431
"""


def test_what_was_printed_stands_beside_what_follows_from_the_times(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a.txt").write_text(STENCIL, encoding="utf-8")
    Path("b.txt").write_text(STENCIL.replace("1.69", "1.51"), encoding="utf-8")
    assert run(["import", "a.txt", "--output", "a"]) == 0
    shown = capsys.readouterr().out
    assert "bytes   µs  ± MB/s printed MB/s messages printed 1/s samples stop" in shown
    assert "  8 B 3.32 ±? 38.6         1.69 4.82 M/s      211431 1" in shown
    assert run(["import", "b.txt", "--output", "b", "--format", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["printed_mb_per_s"], row["printed_msg_per_s"]) == ("1.51", "211431.0")
    assert float(row["bandwidth_bytes_per_s"]) == pytest.approx(38.554e6, rel=1e-3)
    assert run(["show", "a", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["printed_mb_per_s"] == 1.69
    assert run(["show", "a", "--format", "imb"]) == 0
    assert "3.32         1.69       211431" in capsys.readouterr().out


def test_a_comparison_has_what_was_printed_on_both_sides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, rate in (("a", "1.69"), ("b", "1.51")):
        Path(f"{name}.txt").write_text(STENCIL.replace("1.69", rate), encoding="utf-8")
        assert run(["import", f"{name}.txt", "--output", name]) == 0
    capsys.readouterr()
    assert run(["compare", "a", "b"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"a +3\.32 ±\? +1\.69\n +b +3\.32 ±\? +1\.51", shown)
    assert run(["compare", "a", "b", "--format", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["first_printed_mb_per_s"], row["second_printed_mb_per_s"]) == ("1.69", "1.51")


def test_files_are_launches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", str(PINGPONG), str(PINGPONG), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {row["launches"] for row in data["rows"]} == {2}
    assert data["facts"]["imported"].startswith("IMB 2021.11, from ")


def test_files_with_the_same_rows_say_what_they_are_taken_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["import", *map(str, STREAMS), "--output", "a"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 files hold the same rows: they are taken for launches of one thing" in said
    assert run(["import", str(STREAMS[0]), str(PINGPONG), "--output", "b"]) == 0
    assert "hold the same rows" not in capsys.readouterr().out


def test_files_of_unlike_things_are_arms(capsys: pytest.CaptureFixture[str]) -> None:
    """Each has launches of its own; what the text says of its settings stands behind the name."""
    assert run(["import", *map(str, STREAMS), "--apart", "--output", "a"]) == 0
    assert "hold the same rows" not in capsys.readouterr().out
    figures = {(f.arm, f.launch) for f in load(Path("a")).of(Figure) if f.name == "Triad"}
    assert figures == {("ember-stream-local", 0), ("ember-stream-remote", 1)}
    text = f"export OMP_NUM_THREADS=2\n{PINGPONG.read_text(encoding='utf-8')}"
    Path("set.txt").write_text(text, encoding="utf-8")
    assert run(["import", "set.txt", "--apart", "--output", "b"]) == 0
    assert {cell.arm for cell in load(Path("b")).cells} == {"set OMP_NUM_THREADS=2"}
    capsys.readouterr()
    assert run(["compare", "a", "--by", "arm"]) == 0
    assert re.search(r"ember-stream-remote +4941 ±\? 0\.529", capsys.readouterr().out)


def test_files_of_one_name_are_told_by_their_folders() -> None:
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "log.txt").write_bytes(PINGPONG.read_bytes())
    assert run(["import", "one/log.txt", "two/log.txt", "--apart", "--output", "a"]) == 0
    assert {cell.arm for cell in load(Path("a")).cells} == {"one/log.txt", "two/log.txt"}


def test_files_that_say_they_are_unlike_are_no_launches_of_one_thing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = PINGPONG.read_text(encoding="utf-8")
    Path("old.txt").write_text(re.sub(r"(MPI Version +: ).*", r"\g<1>2.2", text), encoding="utf-8")
    assert run(["import", str(PINGPONG), "old.txt"]) == 2
    said = capsys.readouterr().err
    assert f"{PINGPONG} and old.txt hold the same rows, but differ in mpi_standard: " in said
    assert said.count("\n") == 1
    assert not Path("mpigauge-runs").exists()
    assert run(["import", str(PINGPONG), "old.txt", "--apart"]) == 0


def test_lines_that_are_left_out_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", str(CUT), "--output", "a"]) == 0
    said = capsys.readouterr()
    assert f"{CUT}:24: left out: rows are left out here: ..." in said.err
    assert "2 lines could not be read and are left out" in " ".join(said.out.split())
    assert run(["show", "a"]) == 0
    assert "2 lines could not be read" in " ".join(capsys.readouterr().out.split())


def test_our_own_text_can_be_imported_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", str(PINGPONG), "--output", "a", "--format", "imb"]) == 0
    text = capsys.readouterr().out
    Path("ours.txt").write_text(text, encoding="utf-8")
    assert run(["import", "ours.txt", "--output", "b"]) == 0
    again, first = load(Path("b")).cells, load(Path("a")).cells
    assert [c.time_p50_s for c in again] == [c.time_p50_s for c in first]
    assert again[0].source.startswith("mpigauge ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["import", "nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
        (
            ["import", "noise.txt"],
            "noise.txt is not output that can be imported; there are readers",
        ),
        (["import", "noise.txt", "--as", "inb"], "there is no reader 'inb'; did you mean 'imb'?"),
        (
            ["import", "noise.txt", "--as", "imb"],
            "noise.txt holds no table that can be read as imb",
        ),
        (["import", "noise.txt", "--benchmark", "PingPung"], "did you mean 'PingPong'?"),
        (["import", "."], "cannot read .: Is a directory"),
    ],
)
def test_wrong_input(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("noise.txt").write_text("module load mpi\n12 apples\n", encoding="utf-8")
    assert run(words) == 2
    assert message in capsys.readouterr().err
    assert not Path("mpigauge-runs").exists()


OSU = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n1   0.2\n1   0.3\n"


@pytest.mark.parametrize("place", ["new", "empty", "default"])
@pytest.mark.parametrize("fault", ["head", "records", "status", "pivot"])
def test_an_import_that_fails_leaves_no_folder(
    fault: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails: at the beginning, in the middle of the records, at the end, or when the run
    is shown. The same command works afterwards."""
    Path("osu.txt").write_text(OSU, encoding="utf-8")
    words = ["import", "osu.txt"]
    if place == "empty":
        Path("a").mkdir()
    if place != "default":
        words += ["--output", "a"]

    def fail(*_: object) -> None:
        raise RunError("cannot write records.jsonl: No space left on device")

    with monkeypatch.context() as patch:
        of_writer = {"records": "append_records", "status": "finish"}
        if fault == "head":
            patch.setattr(writer, "write_whole", fail)
        if fault in of_writer:
            patch.setattr(RunWriter, of_writer[fault], fail)
        assert run([*words, *(["--pivot", "nope"] if fault == "pivot" else [])]) != 0
    left = sorted(path.name for path in Path().iterdir())
    assert left == (["a", "osu.txt"] if place == "empty" else ["osu.txt"])
    assert not list(Path().glob("a/*"))
    assert run(words) == 0


def test_the_heading_has_the_ranks_of_all_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", str(GOLDEN / "printed/reprompi-two-runs.txt")]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "4 and 64 ranks"


def test_a_failing_import_leaves_the_runs_of_others() -> None:
    Path("osu.txt").write_text(OSU, encoding="utf-8")
    assert run(["import", "osu.txt"]) == 0
    (first,) = Path("mpigauge-runs").iterdir()
    assert run(["import", "osu.txt", "--pivot", "nope"]) == 2
    assert list(Path("mpigauge-runs").iterdir()) == [first]


@pytest.mark.parametrize("form", ["table", "csv", "json", "imb"])
def test_rows_that_are_kept_as_launches_are_reported(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("osu.txt").write_text(OSU, encoding="utf-8")
    assert run(["import", "osu.txt", "--format", form]) == 0
    printed = capsys.readouterr()
    words = " ".join((printed.out if form == "table" else printed.err).split())
    assert words.count("the text prints PingPong of 1 B again without a new heading: 1 row") == 1


def test_the_head_of_an_imported_run_written_out() -> None:
    text = "".join(OSU.replace("0.3", number) for number in ("0.3", "0.4"))
    reading = READERS["osu"].read(Text(f"{text}...\n".encode()))
    folder = write_imported(reading, ["a.txt", "b.txt"], Path("x"), "", more={"kind": "test"})
    head = load(folder).header
    assert folder == Path("x")
    assert (head["schema"], head["version"], head["kind"]) == (1, __version__, "test")
    assert head["command"] == ["mpigauge", "import", "a.txt", "b.txt"]
    about = head["imported"]
    assert list(about) == ["files", "at", "dated", "sources", "remarks", "unread"]
    assert about["files"] == ["a.txt", "b.txt"]
    assert about["sources"] == ["OSU 7.4"]
    assert about["remarks"] == list(reading.remarks)
    assert about["unread"] == [asdict(line) for line in reading.unread]
    assert about["dated"] is False
    assert load(folder).passport == {}
    date = datetime(2020, 2, 29, 5, 1, tzinfo=timezone(timedelta(hours=2)))
    named = load(write_imported(reading, [], None, "my label", "juno", date))
    assert named.path.parent == DEFAULT_ROOT
    assert named.path.name.endswith("my-label")
    assert (named.header["created"], named.status["status"]) == ("2020-02-29T03:01:00Z", "done")
    assert named.header["imported"]["dated"] is True


def test_what_is_no_time_has_its_source_in_the_head_too() -> None:
    reading = READERS["hpl"].read(Text((GOLDEN / "printed/hpl.txt").read_bytes()))
    head = load(write_imported(reading, [], Path("x"), "")).header
    assert reading.figures
    assert head["imported"]["sources"] == sorted({figure.source for figure in reading.figures})


@pytest.mark.parametrize(
    ("head", "expected"),
    [({}, True), ({"imported": None}, True), ({"imported": True}, False),
     ({"imported": {}}, False), ({"imported": {"dated": True}}, True),
     ({"imported": {"dated": False, "date": ""}}, False), ({"imported": {"date": "2020"}}, True)],
)  # fmt: skip
def test_heads_that_have_the_date_of_their_numbers(head: dict[str, Any], expected: bool) -> None:
    assert is_dated(head) == expected


def fail_beside(folder: Path, output: Path | None, error: Exception) -> None:
    """Makes a folder and fails, where failures of a run remove it."""
    with removed_on(RunError, output) as folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").write_text("{}", encoding="utf-8")
        folders.append(folder)
        raise error


@pytest.mark.parametrize("place", [None, "empty", "new"])
def test_a_failure_removes_the_folders_that_it_names(place: str | None) -> None:
    Path("empty").mkdir()
    output = Path(place) if place else None
    folder = output or DEFAULT_ROOT / "one"
    with pytest.raises(RunError, match="it broke"):
        fail_beside(folder, output, RunError("it broke"))
    assert [path.name for path in Path().iterdir()] == ["empty"]
    assert list(Path("empty").iterdir()) == []
    with pytest.raises(KeyError):
        fail_beside(folder, output, KeyError())
    assert (folder / "run.json").exists()


def test_every_reader_says_what_it_reads() -> None:
    assert all(reader.about and reader.mark for reader in READERS.values())


def test_records_are_written_as_they_are_read() -> None:
    reading = READERS["imb"].read(Text(PINGPONG.read_bytes()))
    for record in reading.records():
        assert str(parse(encode(record))) == str(record)


# --- machine and date -----------------------------------------------------------------------------
def imported(*words: str, file: Path = PINGPONG) -> Run:
    folder = Path(f"run{len(list(Path().glob('run*')))}")
    assert run(["import", str(file), *words, "--output", str(folder)]) == 0
    return load(folder)


@pytest.mark.parametrize(
    ("file", "created"),
    [
        (PINGPONG, "2026-11-21T02:56:53Z"),
        (GOLDEN / "printed/oci-impi-allreduce-144.txt", "2023-07-20T17:06:33Z"),
        (GOLDEN / "printed/ember-mpip-report.txt", "2011-05-06T14:15:22Z"),
        (GOLDEN / "printed/hpl.txt", "2026-11-21T12:00:00Z"),
    ],
)
def test_what_a_program_printed_is_its_date(file: Path, created: str) -> None:
    stored = imported(file=file)
    assert stored.header["created"] == created
    assert is_dated(stored.header)


def test_without_a_date_only_the_import_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    stored = imported(file=GOLDEN / "printed/osu.txt")
    assert stored.header["created"] == stored.header["imported"]["at"]
    assert not is_dated(stored.header)
    said = "its machine (--machine) and its date (--date) are not known, so it takes no part in"
    assert said in capsys.readouterr().err


def test_machine_and_date_can_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    stored = imported("--machine", "juno", "--date", "2020-02-29")
    assert stored.header["created"] == "2020-02-29T00:00:00Z"
    assert stored.passport == {"machine": {"hostname": "juno"}}
    shown = capsys.readouterr()
    assert "takes no part" not in shown.err
    assert "2020-02-29" in shown.out
    assert imported("--date", "2020-02-29T05:01Z").header["created"] == "2020-02-29T05:01:00Z"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--date", "21.11.2020"], "--date: '21.11.2020' is not a date; write it as 2026-11-21 or"),
        (["--date", ""], "--date: the value is empty"),
        (["--date", "2021-02-29"], "--date: '2021-02-29' is not a date"),
        (["--date", "1969-07-20"], "nothing was measured on 1969-07-20; it has to be between 1990"),
        (["--date", "9999-01-01"], "nothing was measured on 9999-01-01"),
        (["--machine", ""], "--machine: the value is empty"),
        (["--machine", "a\x1b[31m"], "--machine: 'a\\x1b[31m' is not a name"),
    ],
)
def test_wrong_machines_and_dates(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", str(PINGPONG), *words]) == 2
    assert why in capsys.readouterr().err
    assert not Path("mpigauge-runs").exists()


def test_series_are_of_one_machine_each() -> None:
    """Of imports without a machine or a date there is none; the first is stored as it used to be,
    when an import did not say whether its date is known."""
    text = PINGPONG.read_text(encoding="utf-8")
    for day, machine in enumerate("aaabb...", 1):
        log = Path(f"log{day}.txt")
        log.write_text(re.sub("Sat Nov 21 .*", f"Wed Jan {day} 05:00:00 2020", text))
        imported(*([] if machine == "." else ["--machine", machine]), file=log)
    for machine in "ab":
        undated = imported("--machine", machine, file=GOLDEN / "printed/osu.txt")
    old = Path("run0/run.json")
    header = json.loads(old.read_text(encoding="utf-8"))
    del header["imported"]["dated"]
    old.write_text(json.dumps(header), encoding="utf-8")
    assert len(load(Path("run0")).cells) == 24

    found = answered(run_folders(Path()), None, _series)
    assert found == {("a", 2, "2020-01-02"), ("b", 2, "2020-01-04")}
    assert undated.cells


def _series(library: Library) -> set[tuple[str, int, str]]:
    """Of each series its machine, its runs and the first of its nights."""
    names = list(run_folders(Path()))
    found = set()
    for each in series(library.con, names):
        of = points(library.con, each, names)
        assert len(of) == each.runs
        found.add((each.asked["host"], each.runs, f"{min(n.time for n in of):%Y-%m-%d}"))
    return found
