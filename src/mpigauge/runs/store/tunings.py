# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tunings: folders with rules.json with rules and evidence, the MPI's own files, and the runs.

The MPI's files and the library that they were made for are known by their SHA-256, so that nothing
is used that somebody has edited or that belongs to another build.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.model.call_mix import CallMix
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.row import Estimate
from mpigauge.model.rules import Rule
from mpigauge.model.suite_options import LEVELS, calls_from_several
from mpigauge.model.typed import as_word
from mpigauge.runs.store.files import failing_as, shown_json, write_whole
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS, rule_format_of

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

FILE = "rules.json"
RUNS = "runs"
SCHEMA = 1


@dataclass(frozen=True)
class Fault:
    """A candidate that must not be used."""

    collective: str
    ranks: int
    candidate: str
    """Empty: the default itself."""
    why: str
    program: str = ""
    """A file in the tuning's folder that shows it; empty: there is none."""


@dataclass(frozen=True)
class Evidence:
    """A ratio of times to the default's, with its 95 % interval, and how many launches gave it."""

    value: float
    low: float
    high: float
    launches: int

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.value, self.low, self.high)


@dataclass(frozen=True)
class TunedRule:
    rule: Rule
    chosen: Evidence
    """By the launches that it was chosen in."""
    confirmed: Evidence | None = None
    """By launches with the files, which did not choose it; None: there were none yet."""
    stands_in: bool = False
    """Whether it only takes the place of the default, which the rules of this MPI cannot name."""

    def to_json(self) -> dict[str, Any]:
        sure = asdict(self.confirmed) if self.confirmed else None
        return {**self.rule.to_json(), "chosen": asdict(self.chosen), "confirmed": sure} | (
            {"stands_in": True} if self.stands_in else {}
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TunedRule:
        """KeyError, TypeError or ValueError: it is no such rule."""
        sure = data["confirmed"]
        return cls(
            rule=Rule.from_json(data),
            chosen=Evidence(**data["chosen"]),
            confirmed=Evidence(**sure) if sure else None,
            stands_in=bool(data.get("stands_in")),
        )


@dataclass(frozen=True)
class DefaultStays:
    """Where the default stays, and why."""

    collective: str
    ranks: int
    why: str


@dataclass(frozen=True)
class Rescued:
    """What makes a collective far faster among ranks that share cores."""

    collective: str
    ranks: int
    settings: Mapping[str, str] = field(hash=False)
    """That all these candidates were measured with."""
    message_bytes: int
    usual: float
    """Of the default's time: no candidate took more in the median of launches."""
    in_launches: int
    """In so many launches each candidate took at most a tenth of it."""
    candidates: int
    launches: int


@dataclass(frozen=True)
class SlowerMessages:
    """Messages that take longer with settings that help others."""

    benchmark: str
    ranks: int
    first_bytes: int
    last_bytes: int
    ratio: Evidence


@dataclass(frozen=True)
class TunedMessages:
    """Settings of messages from rank to rank, which have one value for all sizes."""

    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """That are faster with certainty; none: the default stays."""
    why: str = ""
    """Why the default stays; empty: it does not."""
    chosen: Evidence | None = None
    """By the launches that they were chosen in, over all messages as these are weighed."""
    confirmed: Evidence | None = None
    """By launches that did not choose them."""
    measured_by: tuple[str, ...] = ()
    """Benchmarks."""
    tried: int = 0
    """How many combinations of settings were measured."""
    failed: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Those that could not be, or delivered wrong data, and why."""
    slower: tuple[SlowerMessages, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TunedMessages:
        """KeyError, TypeError or ValueError: it is none."""
        chosen, sure = data["chosen"], data["confirmed"]
        return cls(
            settings={str(name): str(value) for name, value in data["settings"].items()},
            why=str(data["why"]),
            chosen=Evidence(**chosen) if chosen else None,
            confirmed=Evidence(**sure) if sure else None,
            measured_by=tuple(map(str, data["measured_by"])),
            tried=int(data["tried"]),
            failed={str(point): str(why) for point, why in data["failed"].items()},
            slower=tuple(
                SlowerMessages(**{**each, "ratio": Evidence(**each["ratio"])})
                for each in data["slower"]
            ),
        )


@dataclass(frozen=True)
class MpiBuild:
    """The library that rules are for."""

    name: str
    version: str
    spec: str
    """What finds it again with --mpi."""
    library: str
    sha256: str

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class ProgramTrial:
    """A program with the rules and without, in launches in turn."""

    command: str
    run_time: Evidence
    """Its ratio with the rules to that without."""
    mpi_time: Evidence
    """The same of its time in MPI."""


@dataclass(frozen=True)
class Tuning:
    mpi: MpiBuild
    hostname: str
    cores: int
    data: str
    """static or fresh: what was sent while it was measured."""
    thread_level: str
    """At which MPI was started while it was measured: single, funneled, serialized, multiple."""
    sizes: tuple[int, ...]
    """At which candidates were measured."""
    rules: tuple[TunedRule, ...]
    left: tuple[DefaultStays, ...] = ()
    faults: tuple[Fault, ...] = ()
    """Candidates that give wrong results, or end the program."""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    """SHA-256 of what was written for the MPI, by name."""
    mix: CallMix | None = None
    """The calls of the program that it is for; None: for any."""
    noise: float | None = None
    """By how much the default differed from itself while candidates were measured, as a share: the
    median of the collective where that is most; None: not known."""
    trial: ProgramTrial | None = None
    """The program itself with the rules and without; None: it was not tried."""
    rescued: tuple[Rescued, ...] = ()
    """What makes collectives far faster among ranks that share cores."""
    hosts: tuple[str, ...] = ()
    """Those on which it was measured, as they were named; none: this machine alone."""
    ppn: int | None = None
    """Ranks on each of these; None: up to its cores."""
    messages: TunedMessages | None = None
    """Settings of messages from rank to rank; None: they were not tuned."""

    @property
    def names_default(self) -> bool:
        """Whether rules of this MPI can say that the default stays."""
        return rule_format_of(self.mpi.name).names_default

    @property
    def message_settings(self) -> Mapping[str, str]:
        """Settings of messages from rank to rank that programs are to be started with."""
        if self.messages:
            return self.messages.settings
        return {}

    @property
    def has_effect(self) -> bool:
        """Whether anything of a program that is started with it differs from the default."""
        return bool(self.files or self.message_settings)

    @property
    def several_threads(self) -> bool:
        """Whether it is for programs that may call MPI from several threads at once."""
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
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tuning:
        """KeyError, TypeError or ValueError: it is none."""
        return cls(
            mpi=MpiBuild(**data["mpi"]),
            hostname=str(data["hostname"]),
            cores=int(data["cores"]),
            data=str(data["data"]),
            thread_level=str(data.get("thread_level", LEVELS[0])),
            sizes=tuple(int(size) for size in data["sizes"]),
            rules=tuple(TunedRule.from_json(each) for each in data["rules"]),
            left=tuple(DefaultStays(**each) for each in data["left"]),
            faults=tuple(Fault(**each) for each in data["faults"]),
            files={str(name): str(digest) for name, digest in data["files"].items()},
            mix=CallMix.from_json(data["mix"]) if data.get("mix") else None,
            noise=None if data.get("noise") is None else float(data["noise"]),
            trial=_trial(data["trial"]) if data.get("trial") else None,
            rescued=tuple(Rescued(**each) for each in data.get("rescued", ())),
            hosts=tuple(str(host) for host in data.get("hosts", ())),
            ppn=None if data.get("ppn") is None else int(data["ppn"]),
            messages=TunedMessages.from_json(data["messages"]) if data.get("messages") else None,
        )


def _trial(data: Mapping[str, Any]) -> ProgramTrial:
    return ProgramTrial(
        command=str(data["command"]),
        run_time=Evidence(**data["run_time"]),
        mpi_time=Evidence(**data["mpi_time"]),
    )


@dataclass(frozen=True)
class Tuned:
    """That a run was made with the rules of a tuning, as run.json says."""

    folder: str
    sha256: str
    """Of the tuning's rules.json, which has those of its files."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """That made the MPI read the rules."""


def tuned_by(folder: Path, settings: Mapping[str, str]) -> Tuned:
    return Tuned(str(folder.absolute()), sha256_of(folder), dict(settings))


def sha256_of(folder: Path) -> str:
    """The digest of the tuning in this folder."""
    return digest(folder / FILE)


def build_of(mpi: Mpi) -> MpiBuild:
    return MpiBuild(mpi.name, mpi.version, mpi.spec, str(mpi.library), digest(mpi.library))


def digest(file: Path) -> str:
    """UserError: it cannot be read."""
    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def write_files(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Writes each whole or not at all; their SHA-256 by name. RunError: the disk is full, or the
    folder cannot be written to."""
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
    """Whether this is the folder of a tuning that has ended."""
    return (folder / FILE).is_file()


def tuning_folders(root: Path) -> dict[str, Path]:
    """The folders of tunings directly below a folder, by their names."""
    try:
        folders = sorted(root.iterdir())
    except OSError as error:
        raise UserError(f"cannot look into {root}: {error.strerror}") from None
    found: dict[str, Path] = {}
    for path in folders:
        if path.name[0] != "." and holds_tuning(path):
            found[path.name] = path
    return found


def load_tuning(folder: Path) -> Tuning:
    """UserError: there is no whole tuning in this folder."""
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
    """UserError: one is not there, or is not what was written."""
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
    """What makes the MPI read the rules, and the settings of messages; nothing where there are
    none."""
    found = dict(tuning.message_settings)
    if tuning.files:
        found |= RULE_FORMATS[tuning.mpi.name].settings(folder)
    return found


def variables_of(folder: Path, tuning: Tuning) -> dict[str, str]:
    """The settings of a tuning as variables of the environment."""
    return as_variables(settings_of(folder, tuning))


def as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings as variables of the environment, those of Open MPI with their prefix."""
    from mpigauge.site.launch.openmpi import is_mca

    return {f"OMPI_MCA_{name}" if is_mca(name) else name: value for name, value in settings.items()}
