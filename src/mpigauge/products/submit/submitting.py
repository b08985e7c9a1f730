# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The parts of `mpigauge submit`: the command to run, the files next to its run, the wait, the
end."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import strict
from mpigauge.cli.paths import LATER
from mpigauge.cli.registry import COMMANDS, module_of
from mpigauge.model.errors import RunError, UserError, nearest_or_all
from mpigauge.model.secrets import looks_secret
from mpigauge.model.typed import as_word
from mpigauge.products.submit.itself import own_words

if TYPE_CHECKING:
    from mpigauge.products.submit.queue import Queue
    from mpigauge.runs.store import Run
    from mpigauge.site.batch import System, Wish

PROFILE = "profile"
NAMES = ("run", "quick", "map", "fabric", "node", "sweep", PROFILE, "resume")
VARIABLES = ("MPIGAUGE_HOME", "MPIGAUGE_CACHE", "MPIGAUGE_KERNELS", "PYTHONPATH")
"""The variables that lead to our own files: a job has to find the same ones."""
OURS = "mpigauge: "


@dataclass(frozen=True)
class JobRequest:
    """A command in a job, and its files."""

    words: tuple[str, ...]
    folder: Path
    """The folder of the run."""
    script: Path
    log: Path
    form: str
    """The format of the result."""
    before: Mapping[Path, str]
    """The content of status.json of each run until now, if it is resumed."""
    name: str = "run"
    """The name of the command."""
    many: int = 1
    """Runs that there will be: one for each MPI."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Values of --env that look secret, which the words only name and the batch system takes
    from the environment of the submission."""

    @property
    def folders(self) -> list[Path]:
        """The folders of its runs that there are."""
        if (self.folder / "run.json").exists():
            return [self.folder]
        return sorted(path.parent for path in self.folder.glob("*/run.json"))


def task(words: tuple[str, ...]) -> JobRequest:
    """UserError: the command could not run, whatever hosts there are."""
    name, *rest = words
    if name not in NAMES:
        hint = nearest_or_all(name, NAMES)
        raise UserError(f"submit: '{name}' is not a command for a job{hint}")
    values = _understood(name, rest)
    if values.get("dry_run"):
        raise UserError("submit: a --dry-run needs no job; write it before the command's name")
    if name == "node" and values["words"] and not values["compilers"]:
        raise UserError(f"submit: to show {values['words'][0]} needs no job; leave 'submit' out")
    if name == "resume":
        from mpigauge.session.run_names import find_run

        folder = find_run(values["run"]).absolute()
    else:
        folder = _new_folder(values, name)
    base = _unused(folder)
    program = values["words"] if name == PROFILE else ()
    ours, variables = by_name(words[: len(words) - len(program)])
    return JobRequest(
        words=(*own_words(), *_with_output((*ours, *program), values, folder)),
        folder=folder,
        script=base.with_name(f"{base.name}.sh"),
        log=base.with_name(f"{base.name}.log"),
        form=values.get("form") or "table",
        before={each: _status(each) for each in _runs_of(folder)},
        name=name,
        many=max(1, len(values.get("mpi_specs") or ())),
        variables=variables,
    )


def by_name(words: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The words with `--env NAME` for a NAME=VALUE that looks secret, and these values."""
    safe: list[str] = []
    variables: dict[str, str] = {}
    before = ""
    for word in words:
        option, equals, own = word.partition("=")
        joined = option == "--env" and equals
        name, given, value = (own if joined else word).partition("=")
        if given and looks_secret(name) and (joined or before == "--env"):
            variables[name] = value
            safe.append(f"--env={name}" if joined else name)
        else:
            safe.append(word)
        before = word
    return tuple(safe), variables


def _with_output(
    words: tuple[str, ...], values: Mapping[str, Any], folder: Path
) -> tuple[str, ...]:
    """The words of the command, which name the folder of the run."""
    name, *rest = words
    if name == "resume" or values["output"]:
        return words
    if name == PROFILE:  # behind the words of a program it would be one of these
        return (name, "--output", str(folder), *rest)
    return (*words, "--output", str(folder))


def _understood(name: str, rest: list[str]) -> Mapping[str, Any]:
    """The options of the command, checked as far as they can be without hosts."""
    from mpigauge.measuring.plan import read_request
    from mpigauge.session.lookups import look_up
    from mpigauge.site.launch import check_launcher

    command = COMMANDS[name]
    strict.check(command, rest, click.Context(command))
    values = command.make_context(f"mpigauge {name}", rest, obj=LATER).params
    if name != "resume":
        request = read_request(values, look_up(values))
        if request.launcher:
            check_launcher(request.launcher)
        map_of = [values["benchmark"]] if values.get("benchmark") else []
        _check_names([*values.get("benchmarks", ()), *map_of])
    check = getattr(module_of(name), "check_options", None)
    if check:
        check(values)
    if name != PROFILE:
        _check_kernels(values)
    return values


def _check_kernels(values: Mapping[str, Any]) -> None:
    """UserError: the job would wait for its turn and then have nothing to measure with. An MPI that
    is not on this node may be on the others."""
    from mpigauge.site.mpi import find
    from mpigauge.site.mpi.make.outlook import refuse_without

    mpis = []
    for spec in values.get("mpi_specs") or (None,):
        with suppress(UserError):
            mpis.append(find(spec))
    refuse_without(mpis)


def _check_names(benchmarks: Sequence[str]) -> None:
    """UserError: there is no benchmark of such a name, neither among those that come with mpigauge
    nor in kernels that were built here. A login node may have no MPI, so none is asked."""
    from mpigauge.model.cards import Cards
    from mpigauge.model.stored_cards import all_cards
    from mpigauge.site.mpi.make import built_cards

    try:
        all_cards().chosen(benchmarks)
    except UserError:
        for path in built_cards():
            with suppress(UserError):
                Cards.load(path).chosen(benchmarks)
                return
        raise


def _new_folder(values: Mapping[str, Any], name: str) -> Path:
    from mpigauge.runs.store.writer import DEFAULT_ROOT

    if values["output"] is not None:
        folder = Path(values["output"]).absolute()
        _refuse_used(folder)
        return folder
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    label = "-".join(values.get("benchmarks") or (name,)).replace("/", "-")[:60]
    return _unused((DEFAULT_ROOT / f"{stamp}-{label}").absolute())


def _refuse_used(folder: Path) -> None:
    """Now, and not when the job has waited for its turn."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UserError(
            f"{folder} is there already; name a new folder with --output, or continue the run in "
            f"it: mpigauge submit … resume {folder}"
        )


def _unused(path: Path) -> Path:
    """The path, or the first one numbered after it, that has no script beside it."""
    name = path.name
    for number in count(2):
        if not path.with_name(f"{name}.sh").exists():
            break
        name = f"{path.name}-{number}"
    return path.with_name(name)


def choose(name: str | None) -> System:
    """The batch system of this name, or the one whose program is here."""
    from mpigauge.model.registry import Here
    from mpigauge.site.batch import SYSTEMS

    if name is not None:
        return SYSTEMS.find(name)
    here = SYSTEMS.usable(Here())
    if len(here) == 1:
        return here[0]
    problem, systems = "there is none of", list(SYSTEMS.values())
    if here:
        problem, systems = "there are several of", list(here)
    programs = ", ".join(each.submit[0] for each in systems)
    raise UserError(f"{problem} {programs} here; name the batch system with --system")


def wish(raw: Mapping[str, Any], log: Path) -> Wish:
    from mpigauge.measuring.plan.arms.parse import parse_count, parse_duration
    from mpigauge.site.batch import Wish

    ppn, minutes = None, None
    if raw["ppn"] is not None:
        ppn = parse_count("--ppn", raw["ppn"], "ranks")
    if raw["time_"] is not None:
        minutes = math.ceil(parse_duration("--time", raw["time_"]) / 60)
    return Wish(
        name="mpigauge",
        log=str(log),
        nodes=parse_count("--nodes", raw["nodes"] or "1", "nodes"),
        ppn=ppn,
        minutes=minutes,
        queue=raw["queue"],
        account=raw["account"],
        options=tuple(raw["more"]),
    )


def environment() -> dict[str, str]:
    return {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}


def write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The words of a program may be nobody else's business.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


def tell(text: str) -> None:
    click.echo(f"{OURS}{text}", err=True)


def wait(queue: Queue, job: str, task: JobRequest) -> None:
    """Follows the job, shows what it has measured, and raises what went wrong."""
    from mpigauge.products.submit.queue import follow

    try:
        state = follow(
            lambda: queue.ask(job), lambda: _done(task), lambda text: tell(f"job {job} {text}")
        )
    except KeyboardInterrupt:
        raise RunError(
            f"job {job} goes on; `{queue.system.cancel} {job}` ends it, and "
            f"`mpigauge show {as_word(task.folder)}` shows what it has measured"
        ) from None
    try:
        collect(job, state.why, task)
    except KeyboardInterrupt:
        raise RunError(
            f"interrupted; job {job} has ended, and `mpigauge show {as_word(task.folder)}` shows "
            "what it has measured"
        ) from None


def collect(job: str, why: str, task: JobRequest) -> None:
    """`why`: how the job ended, if not well."""
    from mpigauge.runs.store import load
    from mpigauge.session.ending import wrong_words

    ended, joint = f"job {job}", ""
    if why:
        ended, joint = f"job {job} {why}", " and"
    if not task.folders:
        raise RunError(f"{ended}{joint} measured nothing: {_last_words(task)}")
    stored = [load(folder) for folder in task.folders]
    if task.name == PROFILE:
        _collect_profile(stored[0], ended, task)
        return
    complete = 0
    wrong: list[str] = []
    for run in stored:
        if run.has_numbers:
            _show(run, task)
        tell(f"stored in {run.path}")
        complete += len(run.complete)
        wrong += wrong_words(run)
    if not _done(task):
        launches = "1 launch is" if complete == 1 else f"{complete} launches are"
        if not why or why.startswith("failed"):  # mpigauge knows better
            ended += f": {_last_words(task).partition('; ')[0]}"
        raise RunError(
            f"{ended}; {launches} complete, what was measured is kept in {task.folder}; "
            f"`mpigauge submit … resume {as_word(task.folder)}` goes on"
        )
    if wrong:
        raise RunError("; ".join(wrong))


def _collect_profile(stored: Run, ended: str, task: JobRequest) -> None:
    """The program has run in any case, or its job has ended before."""
    module_of(PROFILE).present(stored.path, task.form)
    if not _done(task):
        raise RunError(
            f"{ended}: {_last_words(task)}; what was seen until then is in {stored.path}"
        )
    if status := stored.status.get("exit_status"):
        raise RunError(f"{ended}: the program ended with status {status}")


def _show(run: Run, task: JobRequest) -> None:
    """Prints the run as the command itself would."""
    if task.name == "node" or (task.name == "fabric" and task.form == "table"):
        module_of(task.name).present(run)
    else:
        from mpigauge.cli.output.showing import show

        show(run, task.form)


def _runs_of(folder: Path) -> list[Path]:
    return [folder, *(path.parent for path in folder.glob("*/run.json"))]


def _status(folder: Path) -> str:
    try:
        return (folder / "status.json").read_text(encoding="utf-8")
    except OSError:
        return ""


def _done(task: JobRequest) -> bool:
    """True if all runs are complete. If one ended otherwise, the batch system may give the
    reason."""
    folders = task.folders
    return len(folders) >= task.many and all(_ended_well(task, folder) for folder in folders)


def _ended_well(task: JobRequest, folder: Path) -> bool:
    """A profile is whole, too, where the program itself has failed."""
    text = _status(folder)
    good = ("done", "failed") if task.name == PROFILE else ("done",)
    return text not in ("", task.before.get(folder, "")) and json.loads(text)["status"] in good


def _last_words(task: JobRequest) -> str:
    """The last message of mpigauge in the job, else the last line of its output."""
    try:
        lines = task.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return f"there is no output in {task.log}"
    ours = [line.removeprefix(OURS) for line in lines if line.startswith(OURS)]
    return (ours or lines or [f"{task.log} is empty"])[-1]
