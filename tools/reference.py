# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The generated parts of the documentation, each a function from nothing to Markdown.

What they say is what the program says: they read the registries that it reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import click

from mpigauge.cli.helping import Option
from mpigauge.cli.main import group
from mpigauge.cli.registry import FORMER_NAMES
from mpigauge.model.cards import Card, Cards
from mpigauge.model.fields import Field, fields
from mpigauge.model.flags import LETTERS
from mpigauge.model.knob import READ_WORDS
from mpigauge.products.check.quantities import QUANTITIES
from mpigauge.products.doctor.registry import CHECKS
from mpigauge.products.explain.registry import CAUSES, kinds_in_words
from mpigauge.products.profile.analyse.causes import CAUSES as OF_PROFILES
from mpigauge.result.library import TABLES
from mpigauge.result.stats.remarks import MEANING
from mpigauge.runs.readers.references import names as reference_names
from mpigauge.runs.readers.references import reference
from mpigauge.runs.readers.registry import READERS
from mpigauge.schedules import OPERATIONS, algorithms_of
from mpigauge.show.formats import FORMATS
from mpigauge.show.kinds import PLOTS
from mpigauge.show.limits import limit_fields
from mpigauge.site.batch.registry import SYSTEMS
from mpigauge.site.launch.registry import LAUNCHERS
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi.settings.catalogue import BY_NAME, SettingEntry, entries
from mpigauge.site.placement.registry import POLICIES

Part = Callable[[], str]
Named = tuple[tuple[str, ...], click.Command]
RANKS = {
    "one": "1",
    "pair": "2",
    "pairs": "an even number",
    "several": "2 or more",
    "plane": "a product of two numbers from 2 on",
    "volume": "a product of three numbers from 2 on",
    "any": "any number",
}
_SPECIAL = re.compile(r"[\\*_<>\[\]|]")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(words)} |" for words in lines) + "\n"


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def plain(text: str) -> str:
    """Returns text in which only the parts between backquotes have markup: code."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(
        part if part.startswith("`") else _SPECIAL.sub(r"\\\g<0>", part) for part in parts
    )


# --- commands -------------------------------------------------------------------------------
def commands() -> str:
    return "\n\n".join(_command(words, each) for words, each in all_commands())


def all_commands() -> Iterator[Named]:
    """Yields each command and group with its words: (mpigauge, mpi), (mpigauge, mpi, install) …"""

    def below(words: tuple[str, ...], of: click.Command) -> Iterator[Named]:
        if len(words) > 1:
            yield words, of
        if isinstance(of, click.Group):
            context = click.Context(of, info_name=words[-1])
            for name in of.list_commands(context):
                command = of.get_command(context, name)
                if command is not None and not command.hidden:
                    yield from below((*words, name), command)

    return below(("mpigauge",), group)


def _command(words: tuple[str, ...], of: click.Command) -> str:
    context = click.Context(of, info_name=" ".join(words))
    lines = [f"{'#' * len(words)} {' '.join(words)}", ""]
    lines += [f"{plain(paragraph)}\n" for paragraph in _paragraphs(of.help or "")]
    if not isinstance(of, click.Group):
        lines += ["```text", " ".join([context.command_path, *of.collect_usage_pieces(context)])]
        lines += ["```", ""]
        lines += [_option(record) for record in _records(of, context)]
    return "\n".join(lines)


def _paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.replace("\b", "")) if part.strip()]


def _records(of: click.Command, context: click.Context) -> list[tuple[str, str]]:
    options = [each for each in of.get_params(context) if isinstance(each, click.Option)]
    records = (each.get_help_record(context) for each in options if "--help" not in each.opts)
    return [record for record in records if record is not None]


def _option(record: tuple[str, str]) -> str:
    words, about = record
    return f"{code(words)}\n: {plain(about)}\n"


def former_names() -> str:
    """Returns the table of commands and options that older versions named otherwise."""
    rows = [[code(name), code(now)] for name, now in FORMER_NAMES.items()]
    renamed = {
        (former, option.opts[0])
        for _, command in all_commands()
        for option in command.params
        if isinstance(option, Option)
        for former in option.former
    }
    rows += [[code(former), code(now)] for former, now in sorted(renamed)]
    return table(["in older versions", "now"], rows)


# --- benchmarks -----------------------------------------------------------------------------
def benchmarks() -> str:
    cards = Cards.load(kernels(find("mpich")).cards)
    return "\n".join(
        f"## {suite}\n\n{_suite([card for card in cards if card.suite == suite])}"
        for suite in cards.suites()
    )


def _suite(cards: Sequence[Card]) -> str:
    return "\n".join(_benchmark(card) for card in cards)


def _benchmark(card: Card) -> str:
    time = "half a round trip" if card.time == "half_round_trip" else "a call"
    met = "ranks meet before each" if card.sync == "each" else "they follow each other"
    facts = [
        f"Ranks: {RANKS[card.ranks]}.",
        f"Time of {time}; {met}.",
        "" if card.by_default else "Not run by default.",
        f"Needs {', '.join(map(code, card.needs))}." if card.needs else "",
    ]
    return f"{code(card.word)}\n: {plain(card.about)} {' '.join(filter(None, facts))}\n"


# --- registries -----------------------------------------------------------------------------
def settings() -> str:
    owners = dict.fromkeys(entry.of for entry in entries())
    return "\n".join(f"## {BY_NAME.get(of, of)}\n\n{_settings_of(of)}" for of in owners)


def _settings_of(owner: str) -> str:
    return "\n".join(_setting(entry) for entry in entries() if entry.of == owner)


def _setting(entry: SettingEntry) -> str:
    moves = f"the {entry.moves} break" + (f" within a {entry.within}" if entry.within == "node" else
                                          " over the network" if entry.within else "")  # fmt: skip
    facts = [
        f"Values: {plain(entry.legal)}." if entry.legal else "",
        f"Read {READ_WORDS[entry.read]}." if entry.read else "",
        f"Moves {moves}." if entry.moves else "",
        f"Usually {entry.usual} bytes." if entry.usual else "",
        f"From version {entry.since} on." if entry.since else "",
        f"Before version {entry.before}." if entry.is_of_version(str(entry.before - 1))
        and entry.before < SettingEntry.before else "",
        "Known by name only." if not entry.tested else "",
    ]  # fmt: skip
    return f"{code(entry.variable)}\n: {plain(entry.meaning)} {' '.join(filter(None, facts))}\n"


def references() -> str:
    all_references = [reference(name) for name in reference_names()]
    heads = ["name", "system", "network", "date", "what is known", "from"]
    rows = [[e.system, e.network, str(e.date), e.about, e.source] for e in all_references]
    return table(
        heads,
        [
            [code(f"ref:{each.name}"), *map(plain, row)]
            for each, row in zip(all_references, rows, strict=True)
        ],
    )


def flags() -> str:
    rows = [[letter, code(flag), plain(MEANING[flag])] for flag, letter in LETTERS.items()]
    return table(["letter", "flag", "meaning"], rows)


def row_columns() -> str:
    return _columns(fields())


def limit_columns() -> str:
    return _columns(limit_fields(None))


def _columns(of: Iterable[Field]) -> str:
    rows = [[code(each.name), each.unit, plain(each.about)] for each in of]
    return table(["column", "unit", "meaning"], rows)


def sql_tables() -> str:
    return "\n".join(f"## {name}\n\n{_sql(columns)}" for name, columns in TABLES.items())


def _sql(columns: Iterable[Sequence[str]]) -> str:
    return table(["column", "type"], [[code(name), code(kind)] for name, kind in columns])


def quantities() -> str:
    return table(
        ["quantity", "a limit is", "units"],
        [
            [
                code(name),
                "at most" if each.at_most else "at least",
                ", ".join(map(code, each.units)),
            ]
            for name, each in QUANTITIES.items()
        ],
    )


def _abouts(abouts: Mapping[str, str]) -> str:
    return table(["name", "what it is"], [[code(n), plain(about)] for n, about in abouts.items()])


def causes() -> str:
    """Returns the table of causes: the effect, the benchmarks, and the least number of launches."""
    rows = [
        [code(name), plain(each.about), kinds_in_words(each.of) or "any", str(each.sure_from)]
        for name, each in CAUSES.items()
    ]
    return table(["name", "what it is", "of benchmarks of", "sure from launches"], rows)


def algorithms() -> str:
    """Returns a table for each collective: its algorithms, in words, with their steps."""
    return "\n".join(f"## {name}\n\n{_algorithms_of(name)}" for name in OPERATIONS)


def _algorithms_of(operation: str) -> str:
    rows = [
        [code(f"ALG:{each.full_name}"), plain(each.about), each.steps_formula]
        for each in algorithms_of(operation)
    ]
    return table(["benchmark", "how it works", "steps, one after the other"], rows)


def _documented(objects: Mapping[str, object]) -> str:
    """Returns the table of objects with the first lines of their modules' docstrings."""
    import sys

    docs = {name: sys.modules[_module(of)].__doc__ or "" for name, of in objects.items()}
    return _abouts({name: text.strip().splitlines()[0] for name, text in docs.items()})


def _module(of: object) -> str:
    return str(getattr(of, "__module__", type(of).__module__))


PARTS: Mapping[str, Part] = {
    "algorithms": algorithms,
    "benchmarks": benchmarks,
    "batch_systems": lambda: _documented(SYSTEMS),
    "causes": causes,
    "causes_of_profiles": lambda: _abouts({each.name: each.about for each in OF_PROFILES}),
    "checks": lambda: _abouts({name: each.about for name, each in CHECKS.items()}),
    "commands": commands,
    "flags": flags,
    "former_names": former_names,
    "formats": lambda: _abouts({name: each.about for name, each in FORMATS.items()}),
    "launchers": lambda: _documented({name: each.command for name, each in LAUNCHERS.items()}),
    "plots": lambda: _abouts({name: each.about for name, each in PLOTS.items()}),
    "policies": lambda: _abouts(
        {f"{name}:{p.argument}" if p.argument else name: p.about for name, p in POLICIES.items()}
    ),
    "quantities": quantities,
    "readers": lambda: _abouts({name: each.about for name, each in READERS.items()}),
    "references": references,
    "row_columns": row_columns,
    "limit_columns": limit_columns,
    "settings": settings,
    "sql_tables": sql_tables,
}
"""The functions that generate the text of `<!-- generated: NAME -->`, by name."""
