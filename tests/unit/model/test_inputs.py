# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is named as a file and is none, has no end, or unfolds to more than a machine has."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.plan.arms import arms
from mpigauge.model import hostlist, inputs
from mpigauge.model.cpu_lists import parse_bitmap, parse_list
from mpigauge.model.errors import UserError
from mpigauge.model.hostfile import parse_hostfile, read_hostfile
from mpigauge.model.hostlist import parse_hosts
from mpigauge.model.inputs import read_input, read_text
from mpigauge.model.limits import MOST_PUS
from mpigauge.model.outputs import check_file
from mpigauge.model.sizes import read_sizes
from mpigauge.model.toml import read_toml
from mpigauge.runs.store.files import write_whole
from mpigauge.runs.store.pack import unpack
from mpigauge.site.placement.cores import parse_entries
from mpigauge.site.topology.built import built

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


COMMANDS = (
    "import {}",
    "plan check {}",
    "sweep {}",
    "topo --from {}",
    "doctor --from {}",
)
READERS = (read_hostfile, read_sizes, read_toml, built)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_fifo_that_nobody_writes_into_is_not_waited_for(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo("pipe.toml")
    assert run(command.format("pipe.toml").split()) == 2
    assert "pipe.toml is a FIFO without a writer" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_is_not_read_to_its_end(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("zero.toml").symlink_to("/dev/zero")
    assert run(command.format("zero.toml").split()) == 2
    assert "zero.toml is a device, not a file" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_of_files_waits_or_reads_on(reader: Callable[[Path], object]) -> None:
    os.mkfifo("pipe")
    with pytest.raises(UserError, match="pipe is a FIFO without a writer"):
        reader(Path("pipe"))
    with pytest.raises(UserError, match="/dev/zero is a device, not a file"):
        reader(Path("/dev/zero"))


def test_a_pipe_that_somebody_writes_into_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a:2\r\n")
    writer = Thread(target=_finish, args=(writing,))
    writer.start()
    assert read_text(Path(f"/dev/fd/{reading}")) == "a:2\nb"
    writer.join()
    os.close(reading)


def _finish(writing: int) -> None:
    os.write(writing, b"b")
    os.close(writing)


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_AT_ONCE", 4)
    Path("large").write_bytes(bytes(10))
    assert read_input(Path("large"), most=10) == bytes(10)
    with pytest.raises(UserError, match="--x: large is larger than 0 MiB, the most that is read"):
        read_input(Path("large"), "--x: ", most=9)


# --- what is written ------------------------------------------------------------------------
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/urandom"])
def test_a_device_is_no_output(device: str) -> None:
    Path("link.csv").symlink_to(device)
    for path in (Path(device), Path("link.csv")):
        with pytest.raises(UserError, match=f"^{path} is a device; name a file"):
            check_file(path)


def test_pipes_terminals_and_the_null_device_are_written_in_place() -> None:
    os.mkfifo("pipe")
    ours, terminal = os.openpty()
    for path in (Path("pipe"), Path(os.ttyname(terminal)), Path(os.devnull)):
        check_file(path)
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(Path("pipe"), "text")
    assert os.read(reader, 9) == b"text"
    assert Path("pipe").is_fifo()
    assert list(Path().iterdir()) == [Path("pipe")]
    for handle in (ours, terminal, reader):
        os.close(handle)


# --- what unfolds ---------------------------------------------------------------------------
@pytest.mark.parametrize("words", ["0,0-999999999", f"0-{'9' * 5000}", "0+0-65536"])
def test_cores_that_no_machine_has(words: str) -> None:
    with pytest.raises(UserError, match="--bind: '0") as error:
        parse_entries(words, "--bind")
    assert len(str(error.value)) < 400


def test_lists_and_sets_of_numbers_have_an_end() -> None:
    assert parse_list(f"0-{MOST_PUS - 1}") == set(range(MOST_PUS))
    with pytest.raises(ValueError, match="the most is"):
        parse_list(f"0,{MOST_PUS}")
    assert parse_bitmap("0x1,,0x80000001") == {0, 31, 64}
    with pytest.raises(ValueError, match="larger than that of any machine"):
        parse_bitmap("0xffffffff," * 5000)


def test_more_combinations_than_can_be_looked_at() -> None:
    """Before any of them is built."""
    grid = {f"V{number}": tuple("123456789") for number in range(9)}
    with pytest.raises(UserError, match=r"a block of \[\[vary\]\] has 3.874e\+08 combinations"):
        arms.arms([arms.VaryBlock(grid, when="V1 > 9")], "mpich", "mpich", control=True)


def test_hosts_of_many_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostlist, "MOST_HOSTS", 200)
    text = "".join(f"h{number}n[0-99]\n" for number in range(9))
    with pytest.raises(UserError, match="hosts, line 3: there are more than 200 hosts"):
        parse_hostfile(text, "hosts")
    with pytest.raises(UserError, match="--hosts, column 17: there are more than 200 hosts"):
        parse_hosts("a[0-99],b[0-99],c[0-99]", "--hosts")


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 20_000, "a." * 5000 + "a = 1", "a" + " . a" * 5000 + " = 1"]
)
def test_toml_that_is_nested_too_deeply(text: str) -> None:
    Path("plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"plan\.toml is nested too deeply"):
        read_toml(Path("plan.toml"))


def test_toml_with_a_number_of_thousands_of_digits() -> None:
    Path("plan.toml").write_text(f"a = {'9' * 5000}", encoding="utf-8")
    with pytest.raises(UserError, match=r"plan\.toml is not TOML"):
        read_toml(Path("plan.toml"))


def test_a_topology_that_is_nested_too_deeply() -> None:
    inside = '<object type="Group">' * 5000 + "</object>" * 5000
    Path("deep.xml").write_text(f'<topology version="2.0">{inside}</topology>', encoding="utf-8")
    with pytest.raises(UserError, match=r"deep\.xml: this topology is nested too deeply"):
        built(Path("deep.xml"))


def test_a_damaged_record_of_a_machine() -> None:
    Path("machine.txt").write_text("sys/devices/system/cpu/online\t0-x\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"machine\.txt: this record of a machine is damaged"):
        built(Path("machine.txt"))


# --- packs ----------------------------------------------------------------------------------
def packed(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile("x.mpigauge", "w", method) as made:
        made.writestr("run/run.json", b'{"schema": 1}')
        for name, content in members:
            made.writestr(name, content)
    return Path("x.mpigauge")


def test_a_pack_that_unpacks_to_gigabytes() -> None:
    file = packed(*((f"run/{number}", bytes(64 << 20)) for number in range(5)))
    with pytest.raises(UserError, match=r"would become 6 files of 335544333 bytes together"):
        unpack(file, Path("root"))
    assert list(Path("root").iterdir()) == []


def test_a_pack_that_says_less_than_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.runs.store.pack._checked", lambda *_: "run")
    monkeypatch.setattr("mpigauge.runs.store.pack._most_bytes", lambda _: 1000)
    with pytest.raises(UserError, match="it unpacks to more than it declares"):
        unpack(packed(("run/x", bytes(2000))), Path("root"))
    assert list(Path("root").iterdir()) == []


def test_a_pack_by_another_method() -> None:
    with pytest.raises(UserError, match="packed by another method than ours"):
        unpack(packed(("run/x", b"x"), method=zipfile.ZIP_LZMA), Path("root"))
