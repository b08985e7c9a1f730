# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Words of launchers and of IMB, in ours: `-np 2 -msglog 3:28` is `--np 2 --sizes 0,8..268435456`.

Only those that mean one thing here; of others the message says which of our words is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import click

from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_LOG_BYTES, whole_number

Translate = Callable[[str], Sequence[str]]
"""From the value of an option to our words."""
END = "--"
"""What follows are words of another program."""
_MAPPED = {"core": "compact", "slot": "compact", "node": "hosts"}
"""Objects of --map-by, by the placement that they are."""


def in_our_words(words: Sequence[str], known: Collection[str]) -> tuple[list[str], list[str]]:
    """The words, and in sentences what became of those that are not ours. `known`: options of the
    command, which stay as they are. UserError: a word has no one meaning here."""
    found: list[str] = []
    said: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == END:
            return [*found, word, *left], said
        name, equals, value = word.partition("=")
        translate = HABITS.get(_by_two_dashes(name))
        if translate is None or name in known:
            found.append(word)
            continue
        if not equals:
            if not left:
                raise UserError(f"{name}: a value is missing")
            value = left.pop(0)
        ours = translate(value)
        found += ours
        if ours[:1] not in (["--np"], ["--ppn"]):
            said.append(f"{name} {value} is {' '.join(ours) or 'what is done anyway'} here")
    return found, said


class HabitualCommand(click.Command):
    """A command that understands words of launchers and of IMB."""

    def our_words(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        return in_our_words(words, {name for param in self.params for name in param.opts})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from mpigauge.cli.screen import note

        words, said = self.our_words(args)
        for each in said:
            note(each)
        return super().parse_args(ctx, words)


def _by_two_dashes(name: str) -> str:
    """Launchers take -map-by for --map-by; of IMB's words there is only the one form."""
    if name in ("-map-by", "-bind-to", "-cpu-list"):
        return f"-{name}"
    return name


def _named(option: str) -> Translate:
    return lambda value: [option, value]


def _each_host(value: str) -> Sequence[str]:
    raise UserError(
        f"-N {value}: for mpirun these are ranks on each host, --ppn {value} here; for srun they "
        "are hosts, which --hosts names"
    )


def _mapped(value: str) -> Sequence[str]:
    name = value.lower()
    if name.startswith("ppr:"):
        return ["--place", value]
    if name in _MAPPED:
        return ["--place", _MAPPED[name]]
    raise UserError(
        f"--map-by {value}: write where two ranks sit to each other, --place numa, socket or "
        "sockets (two of them), or --place scatter for ranks in turn over all of the machine"
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
    """As IMB has it: 28 or 3:28, with 0 before."""
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
        f"-iter {value}: what is measured decides how often, until --precision 5% is reached or "
        "--in 30s are over; `mpigauge imb install DIR` makes programs that take -iter"
    )


HABITS: Mapping[str, Translate] = MappingProxyType({
    "-np": _named("--np"),
    "-n": _named("--np"),
    "-ppn": _named("--ppn"),
    "-N": _each_host,
    "--map-by": _mapped,
    "--cpu-list": _named("--bind"),
    "--bind-to": _bound,
    "-msglog": _sizes,
    "-iter": _repetitions,
})  # fmt: skip


def words_of_command(command: click.Command, words: list[str]) -> list[str]:
    """The words as the command will read them."""
    if isinstance(command, HabitualCommand):
        return command.our_words(words)[0]
    return list(words)
