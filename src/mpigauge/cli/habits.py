# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options of launchers and of IMB, in our words: `-np 2 -msglog 3:4` is `--np 2 --sizes 0,8..16`.

Options with exactly one meaning here are translated, and a note prints the translation once. Other
options are refused with our words for what they may mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import click

from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_LOG_BYTES, decimal_number, whole_number
from mpigauge.model.placement_words import of_mapping
from mpigauge.model.units import listed

END = "--"
"""The words after it belong to another program."""
_COUNTS = ("-np", "-n", "--np")
"""Options for the number of ranks."""
_WITHOUT_NOTE = ("--np", "--ppn")
"""Translations that need no note."""
_OPEN_MPI = frozenset({
    "--map-by", "--bind-to", "--cpu-list", "--rankfile", "--report-bindings", "--host",
    "--machinefile", "--mca",
})  # fmt: skip
"""Options of launchers that may have one dash."""
_OF_RUNS = frozenset({"--precision"})
"""Options of commands that measure benchmarks."""
_NAME_AND_VALUE = 2
"""The number of words after -genv and --mca."""


@dataclass(frozen=True)
class Habit:
    """An option of another program."""

    translate: Callable[..., Sequence[str]]
    """Returns our words for its values. UserError: it has no one meaning here."""
    values: int = 1
    """The number of words that follow the option."""
    needs: frozenset[str] = frozenset()
    """The options that a command must have for the answer to be true of it."""
    of_ranks: bool = False
    """Its meaning depends on the number of ranks, which `translate` takes after the value."""

    def read(self, name: str, rest: list[str]) -> list[str]:
        """Takes the values from the words that follow. UserError: one is missing."""
        if self.values == _NAME_AND_VALUE and "=" in "".join(rest[:1]):
            return list(rest.pop(0).partition("=")[::2])
        if len(rest) < self.values:
            raise UserError(f"{name}: a value is missing")
        return [rest.pop(0) for _ in range(self.values)]


@dataclass(frozen=True)
class Options:
    """The options of a command of ours."""

    values: dict[str, int]
    """The number of words that follow each option."""
    ends_at_program: bool = False
    """The first word that is no option is a program, whose own options follow it."""

    @classmethod
    def of(cls, command: click.Command) -> Options:
        values: dict[str, int] = {}
        for param in command.params:
            if isinstance(param, click.Option):
                count = 0 if param.is_flag or param.count else param.nargs
                values |= dict.fromkeys([*param.opts, *param.secondary_opts], count)
        mixed = command.context_settings.get("allow_interspersed_args", True)
        return cls(values, not mixed)


def in_our_words(words: Sequence[str], options: Options) -> tuple[list[str], list[str]]:
    """Returns the words with all habits translated, and a note for each translation.

    UserError: an option has no one meaning here.
    """
    ours: list[str] = []
    notes: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == END or (options.ends_at_program and not word.startswith("-")):
            return [*ours, word, *rest], notes
        name, equals, value = word.partition("=")
        habit = None if name in options.values else HABITS.get(_with_two_dashes(name))
        if habit is None or not habit.needs <= options.values.keys():
            count = 0 if equals else options.values.get(name, 0)
            ours += [word, *rest[:count]]
            del rest[:count]
            continue
        values = _split_value(value, habit) if equals else habit.read(name, rest)
        ranks = (_ranks_in(words),) if habit.of_ranks else ()
        translated = list(habit.translate(*values, *ranks))
        if not _are_options(translated, options.values):
            ours += [word, *(() if equals else values)]
            continue
        ours += translated
        if translated[:1] not in [[each] for each in _WITHOUT_NOTE]:
            typed = " ".join([name, *values])
            notes.append(f"{typed} is {' '.join(translated) or 'the default'} here")
    return ours, notes


def _ranks_in(words: Sequence[str]) -> int | None:
    """Returns the number of ranks that an option before the program names."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word == END:
            break
        if name in _COUNTS:
            return whole_number(value if equals else "".join(words[place + 1 : place + 2]))
    return None


def _split_value(value: str, habit: Habit) -> list[str]:
    """The values of NAME=VALUE: of an option with two, they are a name and a value again."""
    if habit.values == _NAME_AND_VALUE:
        return list(value.partition("=")[::2])
    return [value] * habit.values


def _are_options(translated: Sequence[str], options: Collection[str]) -> bool:
    return all(word in options for word in translated[:1])


class HabitualCommand(click.Command):
    """A command that understands options of launchers and of IMB."""

    def our_words(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        return in_our_words(words, Options.of(self))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from mpigauge.cli.screen import note

        words, notes = self.our_words(args)
        for each in notes:
            note(each)
        return super().parse_args(ctx, words)


def _with_two_dashes(name: str) -> str:
    """Open MPI accepts -map-by for --map-by; options of IMB have the one form."""
    return f"-{name}" if f"-{name}" in _OPEN_MPI else name


def _named(option: str) -> Habit:
    return Habit(lambda value: [option, value])


def _hosts_or_ranks(value: str) -> Sequence[str]:
    raise UserError(
        f"-N {value}: for mpirun these are ranks on each host, --ppn {value} here; for srun they "
        "are hosts, which --hosts names"
    )


def _mapped(value: str, ranks: int | None) -> Sequence[str]:
    policy = of_mapping(value, ranks)
    if policy:
        return ["--place", policy]
    raise UserError(
        f"--map-by {value}: two ranks in turn over the sockets are --place sockets here; --place "
        "numa or socket keeps them within one, --place scatter spreads all ranks over the machine"
    )


def _bound(value: str) -> Sequence[str]:
    if value.lower() == "core":
        return []
    if value.lower() == "none":
        return ["--bind", "none"]
    raise UserError(
        f"--bind-to {value}: each rank is bound to a core; --bind 0-3+4 names the cores of each "
        "rank, --bind none leaves it to others"
    )


def _sizes(value: str) -> Sequence[str]:
    """IMB's powers of two: 28 or 3:28, and 0 before them."""
    first, colon, last = value.partition(":")
    low, high = (first, last) if colon else ("0", first)
    least, most = whole_number(low), whole_number(high)
    if least is None or most is None or not least <= most <= MOST_LOG_BYTES:
        raise UserError(
            f"-msglog {value}: write two powers of 2 as 3:28, or the larger alone; or --sizes "
            "0,8..256Mi"
        )
    return ["--sizes", f"0,{1 << least}..{1 << most}"]


def _repetitions(value: str) -> Sequence[str]:
    raise UserError(
        f"-iter {value}: calls go on until --precision 5% is reached or --in 30s are over; "
        "programs of `mpigauge imb install DIR` take -iter"
    )


def _benchmark_file(value: str) -> Sequence[str]:
    raise UserError(f"-input {value}: name the benchmarks on the command line")


def _reported() -> Sequence[str]:
    raise UserError(
        "--report-bindings: every run verifies and stores the cores of its ranks; --dry-run prints "
        "them without a launch"
    )


def _port(value: str) -> Sequence[str]:
    raise UserError(f'-p {value}: quote the words of --rsh together, as in --rsh "ssh -p {value}"')


def _listed() -> Sequence[str]:
    raise UserError("--list: `mpigauge list` names the benchmarks")


def _verbose() -> Sequence[str]:
    raise UserError("-v: `mpigauge show last --all` prints all that a run has stored")


def _variable(name: str, value: str) -> Sequence[str]:
    return ["--env", f"{name}={value}"]


def _parameter(name: str, value: str) -> Sequence[str]:
    """A parameter of Open MPI; pml and btl choose a transport."""
    if name == "pml" and value in ("ucx", "cm", "ob1"):
        return ["--transport", value] if value == "ucx" else ["--set", f"pml={value}"]
    return ["--set", f"{name}={value}"]


def _rank_file(value: str) -> Sequence[str]:
    return ["--place", f"rankfile:{value}"]


def _time_of_a_size(value: str) -> Sequence[str]:
    raise UserError(
        f"-time {value}: IMB's time is that of one size; --in {value}s is that of the whole run"
    )


def _gigabytes(value: str) -> Sequence[str]:
    """IMB's -mem: gigabytes of buffers for each process, such as 0.5."""
    gigabytes = decimal_number(value)
    if not gigabytes > 0:
        raise UserError(f"-mem {value}: write gigabytes, such as 0.5; or --memory-limit 512Mi")
    return ["--memory-limit", str(int(gigabytes * (1 << 30)))]


def _memory(value: str) -> Sequence[str]:
    """The words of IMB-MPI1-GPU, whose host is pinned memory."""
    from mpigauge.model.data_memory import OF_IMB_GPU

    if value not in OF_IMB_GPU:
        raise UserError(f"-mem_alloc_type {value}: IMB has {listed(OF_IMB_GPU, 'or')}; {_OURS}")
    return ["--memory", OF_IMB_GPU[value]]


_OURS = "here --memory has host, pinned, device and managed"
HABITS = {
    "-np": _named("--np"),
    "-n": _named("--np"),
    "-ppn": _named("--ppn"),
    "-N": Habit(_hosts_or_ranks),
    "--map-by": Habit(_mapped, of_ranks=True),
    "--rankfile": Habit(_rank_file),
    "-rf": Habit(_rank_file),
    "--cpu-list": _named("--bind"),
    "--bind-to": Habit(_bound),
    "--report-bindings": Habit(_reported, values=0, needs=_OF_RUNS),
    "--host": _named("--hosts"),
    "-H": _named("--hosts"),
    "--machinefile": _named("--hostfile"),
    "-hostfile": _named("--hostfile"),
    "-hosts": _named("--hosts"),
    "-f": _named("--hostfile"),
    "-x": _named("--env"),
    "-genv": Habit(_variable, values=_NAME_AND_VALUE),
    "-env": Habit(_variable, values=_NAME_AND_VALUE),
    "--mca": Habit(_parameter, values=_NAME_AND_VALUE),
    "-msglog": Habit(_sizes),
    "-msglen": _named("--sizes-file"),
    "-npmin": _named("--npmin"),
    "-mem": Habit(_gigabytes),
    "-mem_alloc_type": Habit(_memory),
    "-time": Habit(_time_of_a_size, needs=_OF_RUNS),
    "-iter": Habit(_repetitions, needs=_OF_RUNS),
    "-input": Habit(_benchmark_file, needs=_OF_RUNS),
    "--time": _named("--in"),
    "--size": _named("--sizes"),
    "-o": _named("--output"),
    "-p": Habit(_port),
    "-v": Habit(_verbose, values=0, needs=_OF_RUNS),
    "--list": Habit(_listed, values=0, needs=_OF_RUNS),
}


def words_of_command(command: click.Command, words: list[str]) -> list[str]:
    """Returns the words as the command will read them."""
    if isinstance(command, HabitualCommand):
        return command.our_words(words)[0]
    return list(words)
