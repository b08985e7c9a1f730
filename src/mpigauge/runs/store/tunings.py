# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tunings: folders with rules.json with rules and evidence, the MPI's own files, and the runs.

The MPI's files and the library that they are for are identified by their SHA-256, so that files
that were edited or belong to another build are not used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.model.call_mix import CallMix
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.suite_options import LEVELS, calls_from_several
from mpigauge.model.typed import as_word
from mpigauge.runs.store.files import failing_as, shown_json, write_whole
from mpigauge.runs.store.tuned_rules import (
    Beyond,
    DefaultStays,
    Evidence,
    Fault,
    Rescued,
    TunedMessages,
    TunedRule,
)
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS, rule_format_of

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

FILE = "rules.json"
RUNS = "runs"
SCHEMA = 1


@dataclass(frozen=True)
class MpiBuild:
    """The library that rules are for."""

    name: str
    version: str
    spec: str
    """The argument of --mpi that selects this MPI again."""
    library: str
    sha256: str

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class ProgramTrial:
    """A program with and without the rules, in alternating launches."""

    command: str
    run_time: Evidence
    """The ratio of its run time with the rules to that without."""
    mpi_time: Evidence
    """The ratio of its time in MPI with the rules to that without."""


@dataclass(frozen=True)
class Tuning:
    mpi: MpiBuild
    hostname: str
    cores: int
    data: str
    """static or fresh: the kind of data in the send buffers during measurement."""
    thread_level: str
    """The thread level of MPI during measurement: single, funneled, serialized, multiple."""
    sizes: tuple[int, ...]
    """The message sizes at which candidates were measured."""
    rules: tuple[TunedRule, ...]
    left: tuple[DefaultStays, ...] = ()
    faults: tuple[Fault, ...] = ()
    """Candidates that give wrong results or crash the program."""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    """SHA-256 of the files written for the MPI, by name."""
    mix: CallMix | None = None
    """The calls of the program that it is for; None: for any."""
    noise: float | None = None
    """The relative difference of the default from itself while candidates were measured: the median
    of the collective with the largest one; None: unknown."""
    trial: ProgramTrial | None = None
    """The program itself with and without the rules; None: it was not tried."""
    rescued: tuple[Rescued, ...] = ()
    """Settings that make collectives far faster among ranks that share cores."""
    hosts: tuple[str, ...] = ()
    """The hosts on which it was measured, as the user named them; empty: this machine alone."""
    ppn: int | None = None
    """Ranks per host; None: up to its cores."""
    messages: TunedMessages | None = None
    """Settings for point-to-point messages; None: they were not tuned."""
    beyond: tuple[Beyond, ...] | None = None
    """The sizes at which algorithms of suite ALG are faster than the library with the rules; None:
    they were not measured."""

    @property
    def names_default(self) -> bool:
        """True if rules of this MPI can name the default."""
        return rule_format_of(self.mpi.name).names_default

    @property
    def message_settings(self) -> Mapping[str, str]:
        """Settings for point-to-point messages with which programs are to be started."""
        if self.messages:
            return self.messages.settings
        return {}

    @property
    def has_effect(self) -> bool:
        """True if a program that is started with it differs from the default in anything."""
        return bool(self.files or self.message_settings)

    @property
    def several_threads(self) -> bool:
        """True if it is for programs that may call MPI from several threads at once."""
        return calls_from_several(self.thread_level)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "mpigauge": mpigauge.__version__,
            "mpi": asdict(self.mpi),
            "hostname": self.hostname,
            "cores": self.cores,
            "data": self.data,
            "thread_level": self.thread_level,
            "sizes": list(self.sizes),
            "rules": [rule.to_json() for rule in self.rules],
            "left": [asdict(each) for each in self.left],
            "faults": [asdict(each) for each in self.faults],
            "files": dict(self.files),
            "mix": self.mix.to_json() if self.mix else None,
            "noise": self.noise,
            "trial": asdict(self.trial) if self.trial else None,
            "rescued": [asdict(each) for each in self.rescued],
            "hosts": list(self.hosts),
            "ppn": self.ppn,
            "messages": asdict(self.messages) if self.messages else None,
            "beyond": None if self.beyond is None else [asdict(each) for each in self.beyond],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tuning:
        """KeyError, TypeError or ValueError: the data is not a tuning."""
        return cls(
            mpi=MpiBuild(**data["mpi"]),
            hostname=str(data["hostname"]),
            cores=int(data["cores"]),
            data=str(data["data"]),
            thread_level=str(data.get("thread_level", LEVELS[0])),
            sizes=tuple(int(size) for size in data["sizes"]),
            rules=tuple(TunedRule.from_json(each) for each in data["rules"]),
            left=tuple(DefaultStays(**each) for each in data["left"]),
            faults=tuple(Fault.from_json(each) for each in data["faults"]),
            files={str(name): str(digest) for name, digest in data["files"].items()},
            mix=CallMix.from_json(data["mix"]) if data.get("mix") else None,
            noise=None if data.get("noise") is None else float(data["noise"]),
            trial=_trial(data["trial"]) if data.get("trial") else None,
            rescued=tuple(Rescued(**each) for each in data.get("rescued", ())),
            hosts=tuple(str(host) for host in data.get("hosts", ())),
            ppn=None if data.get("ppn") is None else int(data["ppn"]),
            messages=TunedMessages.from_json(data["messages"]) if data.get("messages") else None,
            beyond=_beyond(data.get("beyond")),
        )


def _beyond(data: Iterable[Mapping[str, Any]] | None) -> tuple[Beyond, ...] | None:
    return None if data is None else tuple(map(Beyond.from_json, data))


def _trial(data: Mapping[str, Any]) -> ProgramTrial:
    return ProgramTrial(
        command=str(data["command"]),
        run_time=Evidence(**data["run_time"]),
        mpi_time=Evidence(**data["mpi_time"]),
    )


@dataclass(frozen=True)
class Tuned:
    """The tuning whose rules a run used, as stored in run.json."""

    folder: str
    sha256: str
    """The digest of the tuning's rules.json, which holds those of its files."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The settings that made the MPI read the rules."""


def tuned_by(folder: Path, settings: Mapping[str, str]) -> Tuned:
    return Tuned(str(folder.absolute()), sha256_of(folder), dict(settings))


def sha256_of(folder: Path) -> str:
    """The digest of the tuning in this folder."""
    return digest(folder / FILE)


def build_of(mpi: Mpi) -> MpiBuild:
    return MpiBuild(mpi.name, mpi.version, mpi.spec, str(mpi.library), digest(mpi.library))


def digest(file: Path) -> str:
    """The SHA-256 of a file. UserError: it cannot be read."""
    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def write_files(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Writes each file completely or not at all; returns their SHA-256 by name. RunError: the disk
    is full, or the folder is not writable."""
    with failing_as(RunError, folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        _write(folder / name, text)
    return {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}


def save(folder: Path, tuning: Tuning) -> None:
    _write(folder / FILE, json.dumps(tuning.to_json(), indent=1) + "\n")


def _write(file: Path, text: str) -> None:
    with failing_as(RunError, file):
        write_whole(file, text)


def holds_tuning(folder: Path) -> bool:
    """True if this is the folder of a finished tuning."""
    return (folder / FILE).is_file()


def tuning_folders(root: Path) -> dict[str, Path]:
    """The folders of tunings directly below a folder, by name."""
    try:
        folders = sorted(root.iterdir())
    except OSError as error:
        raise UserError(f"cannot read {root}: {error.strerror}") from None
    tunings: dict[str, Path] = {}
    for path in folders:
        if path.name[0] != "." and holds_tuning(path):
            tunings[path.name] = path
    return tunings


def load_tuning(folder: Path) -> Tuning:
    """The tuning in this folder. UserError: there is no complete one."""
    file = folder / FILE
    if not file.is_file():
        what = "is not a tuning: it has no rules.json" if folder.is_dir() else "does not exist"
        raise UserError(f"{folder} {what}; `mpigauge tune --output {as_word(folder)}` makes one")
    try:
        data = json.loads(shown_json(file.read_text(encoding="utf-8")))
        if data["schema"] > SCHEMA:
            raise UserError(f"{file} was written by a newer mpigauge; update mpigauge to read it")
        return Tuning.from_json(data)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise UserError(f"{file} is damaged ({type(error).__name__}: {error})") from None


def check_files(folder: Path, tuning: Tuning) -> None:
    """UserError: a file is missing or has been changed."""
    for name, written in tuning.files.items():
        if digest(folder / name) != written:
            raise UserError(
                f"{folder / name} is not what `mpigauge tune` wrote: somebody has changed it; "
                "tune again, or write it by hand without rules.json"
            )


def check_build(tuning: Tuning, mpi: Mpi) -> None:
    """UserError: the rules are for another build of the MPI."""
    now = build_of(mpi)
    if now.sha256 != tuning.mpi.sha256:
        raise UserError(
            f"these rules are for {tuning.mpi.label} with the library {tuning.mpi.library}, and "
            f"{now.library} ({now.label}) is another build; tune again for it"
        )


def settings_of(folder: Path, tuning: Tuning) -> dict[str, str]:
    """Settings that make the MPI read the rules, and those for messages; empty: there are none."""
    settings = dict(tuning.message_settings)
    if tuning.files:
        settings |= RULE_FORMATS[tuning.mpi.name].settings(folder)
    return settings


def variables_of(folder: Path, tuning: Tuning) -> dict[str, str]:
    """The settings of a tuning as environment variables."""
    return as_variables(settings_of(folder, tuning))


def as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings as environment variables, those of Open MPI with their prefix."""
    from mpigauge.site.launch.openmpi import is_mca

    return {f"OMPI_MCA_{name}" if is_mca(name) else name: value for name, value in settings.items()}
