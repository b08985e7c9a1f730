# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which names a run folder holds: hosts, users, variables and their values, labels."""

from __future__ import annotations

import getpass
import json
import os
import pwd
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.model.secrets import MASK
from mpigauge.runs.store import names
from mpigauge.runs.store.names import is_address, names_in

if TYPE_CHECKING:
    from pathlib import Path

HERE = "login1"
RUN = "20261121-050000-run"
"""A name that mpigauge gives; no label."""


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    host = SimpleNamespace(nodename=HERE)
    monkeypatch.setattr(names, "os", SimpleNamespace(uname=lambda: host, getuid=os.getuid))
    monkeypatch.setattr(names, "_of_process", lambda: "")
    monkeypatch.setattr(names, "_owner", lambda _: "")
    monkeypatch.setattr(names, "_homes", lambda _: [])


def folder_with(root: Path, **files: Any) -> Path:
    """A run folder: text as it is, other values as JSON. An underscore stands for the dot."""
    folder = root / RUN
    folder.mkdir()
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


def hosts_of(root: Path, **files: Any) -> tuple[str, ...]:
    *hosts, here = names_in(folder_with(root, **files)).hosts
    assert here == HERE
    return tuple(hosts)


# --- hosts ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a1", ("a1",)),
        ("a1,b1", ("a1", "b1")),
        ("a1  b1\nc1", ("a1", "b1", "c1")),
        ("n[1-3],m7", ("n1", "n2", "n3", "m7")),
        ("n[01,03]:4", ("n01", "n03")),
        ("a1:16,b1(x3),c1(2)", ("a1", "b1", "c1")),
        ("a1/4,b1/4*2", ("a1", "b1")),
        ("n[1-", ()),
        ("localhost,ROOT,user", ()),
        ("10.0.0.7,fe80::1", ()),
        ("-x,a b/c,d", ("a", "d")),
    ],
)
def test_hosts_of_a_list_however_it_is_written(
    tmp_path: Path, text: str, expected: tuple[str, ...]
) -> None:
    assert hosts_of(tmp_path, passport_json={"x": [{"y": {"hosts": text}}]}) == expected


def test_hosts_below_each_of_their_keys(tmp_path: Path) -> None:
    data = {
        "host": "a1",
        "hostname": ["b1", {"name": "c1", "other": "no"}],
        "list": [[{"submit_host": "d1"}], {"deep": [{"hosts": [["e1"]]}]}],
        "hosts": {"name": "no", "hostname": "f1"},
        "somehost": "no",
        "count": 3,
    }
    assert hosts_of(tmp_path, passport_json=data) == ("a1", "b1", "c1", "d1", "e1", "f1")


@pytest.mark.parametrize(
    ("name", "is_host"),
    [("SLURM_NODELIST", True), ("PBS_O_HOST", True), ("HOSTNAME", True), ("LSB_HOSTS", True),
     ("PMIX_HOSTNAME", True), ("SLURMD_NODENAME", True), ("SLURM_NODE_LIST", True),
     ("SLURM_HOST_COUNT", False), ("hostname_of_node", False), ("UCX_TLS", False)],
)  # fmt: skip
def test_variables_that_name_hosts(tmp_path: Path, name: str, is_host: bool) -> None:
    found = hosts_of(tmp_path, passport_json=[{"environment": {name: "n[7-8]", "N": 3}}])
    assert found == (("n7", "n8") if is_host else ())


@pytest.mark.parametrize("option", names._HOST_OPTIONS)
def test_hosts_that_a_launcher_was_told(tmp_path: Path, option: str) -> None:
    script = f"X='1 2' \\\n  mpiexec -n 2 {option} a1:2,b1 ./a {option}=c1"
    assert hosts_of(tmp_path, launch_command=script) == ("a1", "b1", "c1")


def test_hosts_of_our_own_command(tmp_path: Path) -> None:
    words = ["mpigauge", "run", "--hosts", "a1:2", "--exclude=b1", "--host"]
    assert hosts_of(tmp_path, run_json={"command": words}) == ("a1", "b1")


def test_hosts_of_ranks_come_first_in_their_order(tmp_path: Path) -> None:
    lines = "\n".join([json.dumps({"host": "z9"}), "{damaged", json.dumps({"host": "a1"})])
    found = hosts_of(tmp_path, records_jsonl=lines, cards_json={"host": "b1"}, x_json="{", y="{}")
    assert found == ("z9", "a1", "b1")


def test_files_of_samples_are_not_looked_into(tmp_path: Path) -> None:
    text = "/home/ann/x"
    folder = folder_with(tmp_path, a_bin=text, b_npz=text)
    (folder / "logs.json").mkdir()
    (folder / "dangling.json").symlink_to("nowhere")
    assert names_in(folder).users == ()
    (folder / "c.txt").write_text(text, encoding="utf-8")
    assert names_in(folder).users == ("ann",)


# --- users ----------------------------------------------------------------------------------------
def test_users_by_home_folders_and_variables(tmp_path: Path) -> None:
    log = "/home/ann/x /users/bob.b /Users/carl /u/dora/ /home/shared/x /data/erik /home/.x"
    data = {
        "environment": {"USER": "fay", "SLURM_JOB_USER": "gil", "LOGNAME": "hal",
                        "PBS_O_LOGNAME": "ida", "PMIX_USERNAME": "jon", "USER_NAME": "kim",
                        "USER_ID": "no", "user": "no", "NUSER": 5, "TWO": ["x"]},
    }  # fmt: skip
    found = names_in(folder_with(tmp_path, log_txt=log, passport_json=[data]))
    assert sorted(found.users) == [
        "ann", "bob.b", "carl", "dora", "fay", "gil", "hal", "ida", "jon", "kim"
    ]  # fmt: skip


def raise_key_error(*_: object) -> None:
    raise KeyError("no account")


def test_who_measures_and_whose_the_folder_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    folder = folder_with(tmp_path)
    assert names_in(folder).users[:1] == ("ann",)
    owner = pwd.getpwuid(folder.stat().st_uid)
    assert names._owner(folder) == owner.pw_name
    monkeypatch.setattr(pwd, "getpwuid", raise_key_error)
    monkeypatch.setattr(getpass, "getuser", raise_key_error)
    assert (names._of_process(), names._owner(folder)) == ("", "")


@pytest.mark.parametrize(
    ("home", "expected"),
    [("/home/ann", ["/home/ann"]), ("/afs/x/ann//", ["/afs/x/ann"]), ("/root", []), ("/", [])],
)
def test_homes_that_name_somebody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str, expected: list[str]
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir=home))
    assert list(names._homes(tmp_path)) == expected


# --- what the user has set ------------------------------------------------------------------------
def test_variables_and_values_of_plan_and_command(tmp_path: Path) -> None:
    header = {
        "plan": {"env": {"A": "1", "EMPTY": "", "HIDDEN": MASK, "N": 8},
                 "parts": [{"env": {"B": "two"}}, {"deep": {"env": "no table"}}]},
        "command": ["mpigauge", "run", "--env", "C=x=y", "--env=D=z", "--env", "HOME",
                    "--vary", "env:E=1,five", "--vary-block=env:F=6", "--vary", "G=7",
                    "--vary", "env:bare", "--environment", "NO=no", "--env"],
    }  # fmt: skip
    found = names_in(folder_with(tmp_path, run_json=header))
    assert found.variables == ("A", "EMPTY", "HIDDEN", "N", "B", "C", "D", "E", "F")
    assert found.values == ("1", "8", "two", "x=y", "z", "five", "6")


@pytest.mark.parametrize("header", [[], {}, {"command": "--env A=1", "plan": [1]}, "{damaged"])
def test_a_damaged_head_has_set_nothing(tmp_path: Path, header: Any) -> None:
    found = names_in(folder_with(tmp_path, run_json=header))
    assert (found.variables, found.values, found.labels, found.profile) == ((), (), (), False)


# --- labels ---------------------------------------------------------------------------------------
def test_labels_of_programs(tmp_path: Path) -> None:
    parts = [{"foreign": {"name": "solver"}}, {"foreign": {"words": []}}, {"foreign": "x"}, 3]
    header = {"kind": "profile", "profile": {"program": "wing"}, "plan": {"parts": parts}}
    found = names_in(folder_with(tmp_path, run_json=header))
    assert found.labels == ("wing", "solver")
    assert found.profile


def test_a_folder_that_somebody_has_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, run_json={"profile": {"ranks": 3}, "kind": "run"})
    assert names_in(folder).labels == ()
    assert not names_in(folder).profile
    assert names_in(folder.rename(tmp_path / "wing")).labels == ("wing",)


def test_profiles_that_a_run_was_measured_with(tmp_path: Path) -> None:
    header = {
        "measured_for": "one",
        "command": ["mpigauge", "run", "--profile", "runs/two=0.5", "--arrival",
                    "together,profile:runs/three=1;2", "--arrival=profile:four"],
        "plan": {"replay": {"profile": "five"}, "arrival": ["profile:six", "random:seven"]},
    }  # fmt: skip
    ours = {"measured_for": "20261120-050000-quick"}
    found = names_in(folder_with(tmp_path, run_json=header, cards_json=ours))
    assert found.labels == ("one", "five", "two", "six", "three", "four")


@pytest.mark.parametrize(
    ("word", "expected"), [("10.0.0.7", True), ("fe80::1", True), ("n10", False), ("1.2.3", False)]
)
def test_addresses_are_no_names(word: str, expected: bool) -> None:
    assert is_address(word) == expected
