# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A run as one file: what comes out is what went in, without names where that was asked for."""

from __future__ import annotations

import errno
import io
import json
import os
import pwd
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.model.record import CellRecord
from mpigauge.runs.store import Run, RunWriter, load, names, pack
from mpigauge.runs.store.anonymize import STAYS, TAKEN_OUT, Anonymizer
from mpigauge.runs.store.names import Names, names_in
from mpigauge.runs.store.pack import is_pack, opened, unpack
from tests import cells, runs

SECRETS = (
    "alice", "bsmith", "juno-c07", "juno-c08", "juno-c11", "juno-login3", "juno-c",
    "hpc.example.edu", "example.edu", "10.141.0.7", "10.141.0.8", "fe80::21b:78ff",
    "00:1b:78:aa:bb:cc", "Phys-Dept", "builder@buildhost", "jane.doe@", "example.ch",
)  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    host = SimpleNamespace(nodename="juno-login3.hpc.example.edu")
    monkeypatch.setattr(names, "os", SimpleNamespace(uname=lambda: host, getuid=os.getuid))
    monkeypatch.setattr(names, "_of_process", lambda: "alice")
    monkeypatch.setattr(names, "_homes", lambda _: ["/afs/example.ch/people/alice"])


def telling(root: Path) -> Path:
    """A run of alice on two nodes of a cluster, with names wherever names may be."""
    lines = [
        runs.launch(mpi_library="Open MPI v5, package: Open MPI builder@buildhost Distribution"),
        *(runs.rank(i, f"juno-c0{7 + i}.hpc.example.edu") for i in range(2)),
        runs.cell(directory="/scratch/alice/io", raw=cells.raw([[100, 110], [120]])),
        cells.line("error", launch=0, rank=1, message="juno-c08: no way to 10.141.0.8:4711"),
        cells.end(),
    ]
    command = ["mpigauge", "run", "--hosts", "juno-c[07-08]", "--rsh", "/home/alice/bin/rsh"]
    mpi = {"name": "openmpi", "version": "5.0.2.1", "prefix": "/home/bsmith/openmpi"}
    folder = runs.write(root / "alice-run", lines, header={"command": command, "mpi": mpi})
    passport = {
        "machine": {"hostname": "juno-c07.hpc.example.edu", "mac": "00:1b:78:aa:bb:cc"},
        "hosts": [{"name": "juno-c08", "machine": {"hostname": "juno-c08"}}],
        "by_host": {"juno-c07": {"juno-c08": 1}},
        "environment": {
            "PATH": "/home/alice/.local/bin:/usr/local/bin:/afs/example.ch/people/alice/bin",
            "SLURM_JOB_USER": "alice", "SLURM_NTASKS": "64", "SLURM_JOB_ACCOUNT": "Phys-Dept",
            "SLURM_SUBMIT_HOST": "juno-login3", "UCX_NET_DEVICES": "mlx5_0:1",
        },
    }  # fmt: skip
    (folder / "passport.json").write_text(json.dumps(passport), encoding="utf-8")
    log = (
        "SLURM_NODELIST='juno-c[07-08]' \\\n ssh alice@juno-c07 (10.141.0.7-10.141.0.8) "
        "JUNO-C11 jane.doe@hpc.example.edu fe80::21b:78ff:feaa:bbcc%ib0 "
        "127.0.0.1 12:30:45 libfoo.so.1.2.3.4"
    )
    (folder / "logs" / "launch-000.stderr").write_text(log, encoding="utf-8")
    with (folder / "records.jsonl").open("ab") as file:
        file.write(b'{"record":"rank","host":"juno-c08\xff')
    return folder


def unzipped(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def samples(run: Run) -> list[list[list[int]]]:
    return [run.ticks(record.raw).tolist() for record in run.of(CellRecord) if record.raw]


# --- there and back -----------------------------------------------------------------------
def test_what_comes_out_is_what_went_in(tmp_path: Path) -> None:
    folder = telling(tmp_path)
    (folder / ".run.json.half").write_text("", encoding="utf-8")
    (folder / "elsewhere").symlink_to("/etc/passwd")
    file = pack.pack(folder).file
    assert file == Path("alice-run.mpigauge")
    assert is_pack(file)
    made = unpack(file, tmp_path / "new" / "root")
    assert made == tmp_path / "new" / "root" / "alice-run"
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in (".run.json.half", "elsewhere"):
            assert (made / path.relative_to(folder)).read_bytes() == path.read_bytes()
    assert not (made / "elsewhere").exists()
    assert load(made).cells == load(folder).cells
    assert [path.name for path in made.parent.iterdir()] == ["alice-run"]
    assert unpack(file, made.parent).name == "alice-run-2"


def test_the_same_run_makes_the_same_small_file(tmp_path: Path) -> None:
    folder = runs.write(tmp_path / "one", [runs.launch(), *map(runs.cell, range(200))])
    first = pack.pack(folder, Path("a")).file.read_bytes()
    shutil.copytree(folder, tmp_path / "copy" / "one")
    assert pack.pack(tmp_path / "copy" / "one", Path("b")).file.read_bytes() == first
    assert len(first) < (folder / "records.jsonl").stat().st_size / 10


def test_share_and_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs.write(tmp_path / "mpigauge-runs" / "one")
    assert run(["share", "last"]) == 0
    assert capsys.readouterr().err.startswith("mpigauge: one.mpigauge, ")
    assert run(["show", "one"]) == 0
    shown = capsys.readouterr().out
    shutil.rmtree(tmp_path / "mpigauge-runs")
    assert run(["show", "one.mpigauge"]) == 0
    assert capsys.readouterr().out == shown.replace("report one`", "report one.mpigauge`")
    assert run(["show", "one.mpigauge", "--format", "csv"]) == 0
    Path("other").write_text("text", encoding="utf-8")
    assert run(["show", "other"]) == 2
    assert capsys.readouterr().err.endswith(
        "other is not a packed run, or damaged: File is not a zip file\n"
    )
    assert run(["share", "nowhere"]) == 2


def test_a_file_that_cannot_be_read_is_named_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = telling(tmp_path)
    read = Path.read_bytes

    def read_or_not(path: Path) -> bytes:
        if path.suffix == ".stderr":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_or_not)
    made = pack.pack(folder, Path("x"))
    (said,) = made.left_out
    assert said == f"left out: cannot read {folder}/logs/launch-000.stderr: Permission denied"
    assert load(unpack(made.file, tmp_path / "out")).cells == load(folder).cells


# --- without names ------------------------------------------------------------------------
def test_no_name_is_left_in_the_unpacked_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = telling(tmp_path)
    before = " ".join(map(str, [path.read_bytes() for path in folder.rglob("*") if path.is_file()]))
    assert [s for s in SECRETS if s.lower() not in before.lower()] == []
    assert run(["share", str(folder), "--anonymous"]) == 0
    (file,) = Path().glob("*.mpigauge")
    assert file.name == "label1.mpigauge"
    said = capsys.readouterr().err.splitlines()[1]
    assert said.startswith("mpigauge: taken out: 4 addresses, 1 domain, 1 label, 4 nodes, 2 users")
    for name, content in unzipped(file).items():
        for secret in SECRETS:
            assert secret.lower().encode() not in content.lower(), f"{secret} in {name}"
            assert secret.lower() not in name.lower()
    assert b"alice" not in file.read_bytes()


def test_pseudonyms_are_the_same_everywhere_and_the_numbers_stay(tmp_path: Path) -> None:
    folder = telling(tmp_path)
    made = unpack(pack.pack(folder, Path("x"), anonymous=True).file, tmp_path / "out")
    old, new = load(folder), load(made)
    assert [rank.host for rank in new.ranks] == ["node1", "node2"]
    assert new.passport["machine"]["hostname"] == "node1"
    assert new.passport["hosts"][0]["name"] == "node2"
    assert new.passport["by_host"] == {"node1": {"node2": 1}}
    assert new.header["command"][3:] == ["node1,node2", "--rsh", "/home/user1/bin/rsh"]
    assert new.header["mpi"]["version"] == "5.0.2.1"
    environment = new.passport["environment"]
    assert environment["PATH"] == "/home/user1/.local/bin:/usr/local/bin:/home/user1/bin"
    assert environment["SLURM_NTASKS"] == "64"
    assert environment["SLURM_JOB_ACCOUNT"] == TAKEN_OUT
    assert environment["UCX_NET_DEVICES"] == "mlx5_0:1"
    assert new.failures[0].message == "node2: no way to address3:4711"
    log = (made / "logs" / "launch-000.stderr").read_text(encoding="utf-8")
    assert "127.0.0.1 12:30:45 libfoo.so.1.2.3.4" in log
    (one,), (two,) = old.cells, new.cells
    assert two.directory == "/scratch/user1/io"
    assert {**vars(one), "directory": ""} == {**vars(two), "directory": ""}
    assert samples(new) == samples(old)


def test_the_profile_whose_arrivals_were_measured_has_no_name(tmp_path: Path) -> None:
    """It stands in the command, in each record of such a cell, and where it was measured for it."""
    lines = [runs.launch(), runs.cell(arrival="profile:left_wing"), cells.end()]
    words = ["Allreduce", "--arrival", "together,profile:runs/left wing"]
    header = {"command": ["mpigauge", "run", *words], "measured_for": "right-wing"}
    folder = runs.write(tmp_path / "20261121-050000-run", lines, header=header)
    assert run(["share", str(folder), "--anonymous"]) == 0
    (file,) = Path().glob("*.mpigauge")
    assert not any(b"wing" in content for content in unzipped(file).values())


def test_the_profile_that_was_replayed_has_no_name(tmp_path: Path) -> None:
    """It stands in the command, in the plan as it is and as kernels have it, and in records."""
    lines = [runs.launch(), runs.cell(settings="profile=left_wing"), cells.end()]
    plan = {
        "suite_options": {"profile": "left_wing=2;0+1;0+0;barrier:0:0:0:1;"},
        "replay": {"profile": "left wing"},
    }
    header = {"command": ["mpigauge", "run", "Replay", "--profile", "runs/left wing"], "plan": plan}
    folder = runs.write(tmp_path / "20261121-050000-run", lines, header=header)
    assert run(["share", str(folder), "--anonymous"]) == 0
    (file,) = Path().glob("*.mpigauge")
    assert not any(b"wing" in content for content in unzipped(file).values())


def test_words_of_ours_stay_though_somebody_is_called_so(tmp_path: Path) -> None:
    folder = runs.write(tmp_path / "one", [runs.launch(), runs.rank(0, "hot"), runs.cell()])
    made = unpack(pack.pack(folder, Path("x"), anonymous=True).file, tmp_path / "out")
    (cell,) = load(made).cells
    assert cell.cache == "hot"
    assert load(made).ranks[0].host == "node1"


def test_a_host_is_known_by_any_of_its_names() -> None:
    anonymizer = Anonymizer(Names(("n1.site.org", "n2"), ("bob",)))
    said = anonymizer.text("n1 N1.site.org n2.site.org n1-ib0 other.site.org bob_x bobby /home/bob")
    assert said == "node1 node1 node2.domain1 node1-ib0 other.domain1 user1_x bobby /home/user1"


@pytest.mark.parametrize("word", ["a" * 100_000, "a." * 50_000, f"a@{'b.' * 50_000}1"])
def test_a_word_of_any_length_is_looked_through_once(word: str) -> None:
    """From each of its letters anew, the first took 97 s."""
    anonymizer = Anonymizer(Names(("n1",), ("bob",)))
    assert anonymizer.text(f"{word} x.y+z@site.org n1") == f"{word} user@host node1"
    assert anonymizer.text("Open MPI bob@n1@x Distribution") == "Open MPI user@host Distribution"


def test_names_of_a_damaged_run_are_found_too(tmp_path: Path) -> None:
    found = names_in(telling(tmp_path))
    assert {"juno-c07", "juno-c08", "juno-login3"} <= {
        host.partition(".")[0] for host in found.hosts
    }
    assert {"alice", "bsmith"} <= set(found.users)


def test_home_folders_are_those_of_the_owner_and_of_who_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    people = {os.getuid(): "/data/people/ann/", tmp_path.stat().st_uid: "/data/people/ann/"}
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_dir=people[uid]))
    assert list(names._homes(tmp_path)) == ["/data/people/ann"]
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    assert list(names._homes(tmp_path)) == []


# --- files that others have made ----------------------------------------------------------
def zipped(*members: tuple[str, bytes], mode: int = 0o644) -> Path:
    file = Path("made.mpigauge")
    with zipfile.ZipFile(file, "w") as made:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            made.writestr(info, content)
    return file


HEAD = ("run/run.json", b'{"schema": 1}')


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ([HEAD, ("run/../../x", b"")], "it holds 'run/../../x'"),
        ([HEAD, ("/run/x", b"")], "it holds '/run/x'"),
        ([HEAD, ("x", b"")], "it holds 'x'"),
        ([HEAD, ("", b"")], "it holds ''"),
        ([(".tables/run.json", b"")], "it holds '.tables/run.json'"),
        ([HEAD, ("run/a\\..\\x", b"")], "it holds"),
        ([HEAD, ("other/x", b"")], "does not hold one folder with run.json"),
        ([("run/x", b"")], "does not hold one folder with run.json"),
        ([("run/run.json", b'{"schema": 99}')], "written by a newer mpigauge (schema 99"),
        ([HEAD, ("run/x", b""), ("run/x/y", b"")], "cannot unpack"),
    ],
)
def test_nothing_is_written_outside(
    tmp_path: Path, members: list[tuple[str, bytes]], says: str
) -> None:
    file = zipped(*members)
    with pytest.raises(UserError) as error:
        unpack(file, tmp_path / "root")
    assert says in str(error.value)
    assert list((tmp_path / "root").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.mpigauge", "root"]


def test_links_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a packed run: it holds 'run/run\.json'"):
        unpack(zipped(HEAD, mode=0o120777), tmp_path / "root")


@pytest.mark.parametrize("limit", ["MOST_BYTES", "MOST_FILES"])
def test_a_file_that_would_become_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(pack, limit, 1)
    with pytest.raises(UserError, match=r"would become 2 files of 13 bytes together; the most are"):
        unpack(zipped(HEAD, ("run/x", b"")), tmp_path / "root")


@pytest.mark.parametrize(
    ("packed", "most"),
    [(0, 268_435_456), (2_684_354, 268_435_456), (2_684_355, 268_435_500),
     (85_899_345, 8_589_934_500), (85_899_346, 8_589_934_592), (1 << 34, 8_589_934_592)],
)  # fmt: skip
def test_a_pack_grows_a_hundredfold_at_most(tmp_path: Path, packed: int, most: int) -> None:
    """At least 256 MiB may come out of any, and 8 GiB of none."""
    file = tmp_path / "x"
    file.touch()
    os.truncate(file, packed)
    assert pack._most_bytes(file) == most


def test_a_pack_has_a_hundred_thousand_files_at_most(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    members = [zipfile.ZipInfo(f"run/{name}") for name in ("run.json", *range(99_999))]
    assert pack._checked(tmp_path / "x", members) == "run"
    with pytest.raises(UserError, match="would become 100001 files of 0 bytes"):
        pack._checked(tmp_path / "x", [*members, zipfile.ZipInfo("run/more")])


def test_a_member_that_is_longer_than_it_says_is_refused(tmp_path: Path) -> None:
    target = io.BytesIO()
    assert pack._copied(io.BytesIO(b"abc"), target, 5, tmp_path) == 2
    assert pack._copied(io.BytesIO(b"de"), target, 2, tmp_path) == 0
    assert target.getvalue() == b"abcde"
    with pytest.raises(UserError, match="it unpacks to more than it declares"):
        pack._copied(io.BytesIO(b"abc"), target, 2, tmp_path)


def test_members_tell_neither_times_nor_owners(tmp_path: Path) -> None:
    with zipfile.ZipFile(pack.pack(runs.write(tmp_path / "one")).file) as packed:
        members = packed.infolist()
    assert members[0].filename == "one/run.json"
    for member in members:
        assert member.date_time == (1980, 1, 1, 0, 0, 0)
        assert member.external_attr >> 16 == 0o644
        assert member.compress_type == zipfile.ZIP_DEFLATED


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a b", "a b"), ("ä", "ä"), ("a\\b\nc", "a_b_c"), ("\udcff", "_udcff"), ("--x", "--x")],
)
def test_names_as_a_zip_can_hold_them(name: str, expected: str) -> None:
    assert pack.in_utf_8(name) == expected


@pytest.mark.parametrize(("name", "expected"), [("--", "run"), ("-x-", "x-")])
def test_a_folder_is_not_called_as_an_option_is(tmp_path: Path, name: str, expected: str) -> None:
    made = unpack(zipped((f"{name}/run.json", b'{"schema": 1}')), tmp_path / "root")
    assert made == tmp_path / "root" / expected


@pytest.mark.parametrize("at", [0.2, 0.5, 0.9])
def test_a_damaged_pack_is_named_and_leaves_nothing(tmp_path: Path, at: float) -> None:
    file = pack.pack(runs.write(tmp_path / "one")).file
    content = bytearray(file.read_bytes())
    place = int(len(content) * at)
    content[place : place + 40] = bytes(40)
    for bad in (bytes(content), bytes(content[:place])):
        file.write_bytes(bad)
        with pytest.raises(UserError, match=r"one.mpigauge is not a packed run, or damaged"):
            unpack(file, tmp_path / "root")
        assert list((tmp_path / "root").iterdir()) == []


def test_other_files_are_no_packs(tmp_path: Path) -> None:
    other = tmp_path / "x.zip"
    with zipfile.ZipFile(other, "w") as made:
        made.writestr("a/b", "")
    text = tmp_path / "text"
    text.write_text("# Benchmarking PingPong", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "empty", "w"):
        pass
    assert [is_pack(path) for path in (other, text, tmp_path / "empty", tmp_path)] == [False] * 4
    with opened(tmp_path) as same:
        assert same == tmp_path


# --- what others may not see --------------------------------------------------------------
TOKEN = "tok3n/S3CRET+value"
HIDDEN = {
    "a value of --env": TOKEN,
    "a host that no rank ran on": "gpu-login17",
    "a user": "zoraida",
    "the name of a program": "projectzeta-solver",
}
IN_TEXT = " ".join(HIDDEN.values())


def secretive(folder: Path) -> Path:
    """A run that names each of the secrets once, where it belongs."""
    header = {
        "version": "1",
        "command": ["mpigauge", "run", "PingPong", "--env", f"API_NAME={TOKEN}", "--hosts",
                    "gpu-login17:2", "--set", "UCX_TLS=tcp"],
        "plan": {
            "benchmarks": ["PingPong"],
            "env": {"API_NAME": TOKEN, "N": "8"},
            "parts": [{"benchmarks": ["projectzeta-solver"], "sizes": [],
                       "foreign": {"name": "projectzeta-solver", "words": ["./a.out"]}}],
        },
        "mpi": {"name": "mpich", "version": "5.0.2"},
    }  # fmt: skip
    lines = [
        runs.launch(), runs.rank(0, "node-a"), runs.cell(), runs.figure(),
        cells.line("skip", launch=0, key={"benchmark": "PingPong"}, reason="why"),
        cells.line("error", launch=0, rank=1, message="it broke"),
        cells.line("transport", launch=0, used="tcp"),
        cells.end(),
    ]  # fmt: skip
    with RunWriter.create(header, cells.cards_text(), output=folder) as writer:
        writer.write_passport({
            "machine": {"hostname": "node-a", "cpu_model": "a CPU", "kernel": "6.1"},
            "environment": {"USER": "zoraida", "UCX_TLS": "tcp"},
            "remarks": ["a remark"],
        })  # fmt: skip
        for line in lines:
            assert writer.append(line), line
        writer.write_command(
            0, ["mpiexec", "-genv", "API_NAME", TOKEN, "./a.out"], {"API_NAME": TOKEN}
        )
        writer.log(0, "stderr", "a line\n")
        writer.finish("done", reason="")
    history = {"runs": 0, "correlation": 0.1, "cells": {}, "remark": "a word"}
    (folder / "history.json").write_text(json.dumps(history), encoding="utf-8")
    return folder


def texts_in(data: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the texts of a document are."""
    if isinstance(data, str):
        yield at
    for key, value in data.items() if isinstance(data, dict) else []:
        yield from texts_in(value, (*at, key))
    for place, value in enumerate(data) if isinstance(data, list) else []:
        yield from texts_in(value, (*at, place))


def planted_in(data: Any, at: tuple[str | int, ...], secret: str) -> None:
    for key in at[:-1]:
        data = data[key]
    data[at[-1]] = f"{data[at[-1]]} {secret}"


SOURCES = {"record", "command", "env", "foreign", "USER"}
"""Where the secrets are named, and the word that says what a record is."""


def plant_everywhere(folder: Path) -> int:
    """All secrets in every text of every file; how many texts there were."""
    many = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix == ".bin":
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix not in (".json", ".jsonl"):
            path.write_text(f"{text} {IN_TEXT}\n", encoding="utf-8")
            continue
        pieces = text.splitlines() if path.suffix == ".jsonl" else [text]
        documents = [json.loads(piece) for piece in pieces]
        for document in documents:
            for at in list(texts_in(document)):
                if not SOURCES & set(map(str, at)):
                    planted_in(document, at, IN_TEXT)
                    many += 1
        path.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    return many


def test_secrets_in_any_text_of_any_file_are_taken_out(tmp_path: Path) -> None:
    """As they were before, each of them is named at one place of the run."""
    folder = secretive(tmp_path / "secretive")
    assert plant_everywhere(folder) > 300
    disguised = pack.pack(folder, Path("x"), anonymous=True)
    assert {"label", "node", "user", "value"} <= set(disguised.taken)
    for name, content in unzipped(disguised.file).items():
        for what, secret in HIDDEN.items():
            assert secret.lower().encode() not in content.lower(), f"{what} in {name}"
            assert secret.lower() not in name.lower()


def test_a_short_value_goes_where_its_variable_is_set(tmp_path: Path) -> None:
    """But 8 stays a number elsewhere."""
    made = unpack(
        pack.pack(secretive(tmp_path / "secretive"), Path("x"), anonymous=True).file, tmp_path / "o"
    )
    stored = load(made)
    assert set(stored.plan["env"].values()) == {"value1", "value2"}
    assert stored.header["command"][4] == "API_NAME=value1"
    assert stored.header["command"][-1] == "UCX_TLS=tcp"
    assert stored.cells[0].message_bytes == 8
    said = (made / "logs" / "launch-000.command").read_text(encoding="utf-8")
    assert "-genv API_NAME value1" in said


@pytest.mark.parametrize("secret", ["one,two", "it's mine", "a b c d", "x,y", "o'k", 'say "no"'])
def test_a_value_is_taken_out_as_a_whole(secret: str) -> None:
    """Whatever is in it, and however a shell is told it."""
    anonymizer = Anonymizer(Names((), (), variables=("TOKEN",), values=(secret,)))
    quoted = shlex.quote(secret)
    assert anonymizer.text(f"-genv TOKEN {quoted} x") == "-genv TOKEN value1 x"
    assert anonymizer.text(f"TOKEN={quoted} mpiexec") == "TOKEN=value1 mpiexec"
    assert shlex.split(anonymizer.text(shlex.quote(f"TOKEN={secret}"))) == ["TOKEN=value1"]
    assert anonymizer.text(f"TOKEN={secret}") == "TOKEN=value1"
    assert json.loads(anonymizer.json(json.dumps([f"TOKEN={secret}"]))) == ["TOKEN=value1"]
    assert anonymizer.taken() == {"value": 1}


def test_what_stays_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["share", str(secretive(tmp_path / "secretive")), "--anonymous"]) == 0
    said = capsys.readouterr().err
    assert "it keeps these; check them before you publish it:" in said
    for each in STAYS:
        assert f"  {each}\n" in said


@pytest.mark.parametrize("name", ["run", "logs", "records", "launch", "cards"])
def test_a_run_may_be_called_as_its_files_are(tmp_path: Path, name: str) -> None:
    folder = runs.write(tmp_path / name, [runs.launch(), runs.cell(), cells.end()])
    made = unpack(pack.pack(folder, Path("x"), anonymous=True).file, tmp_path / "out")
    assert load(made).cells == load(folder).cells
