# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes from schema/options.toml the C++ code and the page of the kernels' options.

tools/generate_command_line.py makes the Python code of the same options.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from dataclasses import field as filled_by
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tools.generate_text import cpp_comment, cpp_header, head, made_by, quoted

SCHEMA = "schema/options.toml"
CPP_TYPES = {
    "flag": "bool",
    "int": "int",
    "real": "double",
    "bytes": "std::size_t",
    "seed": "std::uint64_t",
    "text": "std::string",
    "ints": "std::vector<int>",
    "sizes": "std::vector<std::size_t>",
    "words": "std::vector<std::string>",
}
NUMBERS = {
    "int": "int",
    "real": "double",
    "bytes": "std::size_t",
    "seed": "std::uint64_t",
    "ints": "int",
    "sizes": "std::size_t",
}
"""The C++ type of a number, or of each item of a list, by type of option."""
MOST = {
    "int": 2**31 - 1,
    "ints": 2**31 - 1,
    "bytes": 2**47,
    "sizes": 2**47,
    "seed": 2**64 - 1,
}
"""The upper limit of a number whose entry sets none, by type of option."""
FORMS = (
    *(
        "folders",
        "counts",
        "orders",
        "nodes",
        "sides",
        "places",
        "percent",
        "microseconds",
        "words",
        "arrivals",
    ),
    "run",
)
"""The forms of options that only some benchmarks use."""
GENERAL_FORMS = (
    *("rank_count", "rank_counts", "rank_grid", "share", "duration", "hosts", "policies"),
    *("settings", "variables", "memories", "library", "agent", "name", "text", "path"),
    "run_folder",
)
"""The forms of options of all benchmarks, beside those that are the name of a type."""
KNOWN_TYPES = (*CPP_TYPES, "word")


@dataclass(frozen=True)
class Option:
    about: str
    type: str = ""
    name: str = ""
    field: str = ""
    enum: str = ""
    words: dict[str, str] = filled_by(default_factory=dict)
    enumerators: dict[str, str] = filled_by(default_factory=dict)
    default: Any = None
    usual: str = ""
    least: float | None = None
    most: float | None = None
    optional: bool = False
    reader: str = ""
    include: str = ""
    suite: bool = False
    by_all: bool = False
    each: bool = False
    column: bool = False
    offered: bool = True
    form: str = ""
    metavar: str = ""
    typed: str = ""
    kernels: bool = True
    help: str = ""
    brief: str = ""
    several: bool = False
    hidden: bool = False
    former: tuple[str, ...] = ()
    usually: str = ""
    key: str = ""
    python: str | None = None
    request: bool = True
    planned: bool | None = None
    heading: str = ""
    """The part of the help that shows it; empty: it is not among the options of `mpigauge run`."""
    place: int = 0
    """Its place among the options of the help."""

    @property
    def flag(self) -> str:
        """The name on the command line, without hyphens in front."""
        return self.typed or self.name

    @property
    def is_planned(self) -> bool:
        """True if a plan keeps its value."""
        return self.kernels if self.planned is None else self.planned

    @property
    def kept_as(self) -> str:
        return self.field or self.name.replace("-", "_")

    @property
    def own_enum(self) -> bool:
        """True if the enumeration is generated from the schema, not written elsewhere."""
        return bool(self.enum) and self.enum != "bool" and not self.include

    @property
    def cpp_type(self) -> str:
        value = self.enum or CPP_TYPES.get(self.type, self.type)
        return f"std::optional<{value}>" if self.optional else value

    @property
    def shown_default(self) -> str:
        """The default as shown in help and documentation."""
        if self.usual or self.default is None:
            return self.usual
        if isinstance(self.default, bool):
            return "on" if self.default else "off"
        return ",".join(self.default) if isinstance(self.default, list) else str(self.default)

    @property
    def limits(self) -> tuple[float, float]:
        """The lower and upper limit of a number."""
        return self.least or 0, self.most if self.most is not None else MOST[self.type]

    def enumerator(self, word: str) -> str:
        name = self.enumerators.get(word, word)
        return name if self.enum == "bool" else f"{self.enum}::{name}"


def read_options(path: Path) -> tuple[Option, ...]:
    """Every option, in the order of the schema. SystemExit: an entry is wrong."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    headings = {flag: heading for heading, flags in table["help"].items() for flag in flags}
    options = []
    for entry in table["option"]:
        flag = entry.get("typed") or entry.get("name", "")
        former = tuple(entry.get("former", ()))
        place = list(headings).index(flag) if flag in headings else 0
        facts = {"former": former, "heading": headings.get(flag, ""), "place": place}
        options.append(Option(**entry | facts))
    for option in options:
        _check(option, [each.name for each in options if each.name])
    for flag in headings:
        if flag not in [option.flag for option in options]:
            raise SystemExit(f"{SCHEMA}: [help] names {flag}, which is no option")
    return tuple(options)


def _check(option: Option, names: list[str]) -> None:
    what = f"{SCHEMA}: {option.name or option.field}"
    if names.count(option.name) > 1:
        raise SystemExit(f"{what}: defined twice")
    if option.kernels and option.type not in KNOWN_TYPES and not option.include:
        raise SystemExit(f"{what}: unknown type {option.type}")
    if bool(option.words) != (option.type == "word"):
        raise SystemExit(f"{what}: a word has an enum, and its words in [option.words]")
    if option.kernels and bool(option.enum) != bool(option.words):
        raise SystemExit(f"{what}: a word has an enum, and its words in [option.words]")
    forms = GENERAL_FORMS if option.heading else FORMS
    if option.form and option.form not in forms:
        raise SystemExit(f"{what}: unknown form {option.form}; there are {', '.join(forms)}")
    if option.each and not option.suite:
        raise SystemExit(f"{what}: only what some benchmarks use can be measured each")
    if not option.kernels and not option.heading:
        raise SystemExit(f"{what}: mpigauge alone reads it, and [help] has no place for it")


# --- C++ -----------------------------------------------------------------------------------
def words_header(options: tuple[Option, ...]) -> str:
    lines = []
    for option in options:
        if not option.own_enum:
            continue
        lines += [*cpp_comment(option.about), f"enum class {option.enum} {{"]
        for word, about in option.words.items():
            lines += [*cpp_comment(about, "  "), f"  {option.enumerators.get(word, word)},"]
        lines += ["};", "template <>", f"inline constexpr auto option_words<{option.enum}> ="]
        lines += [f"    {_word_array(option)};", ""]
    return cpp_header(SCHEMA, lines, "<array>", "core/words.hpp")


def _word_array(option: Option) -> str:
    rows = ", ".join(f'{{"{word}", {option.enumerator(word)}}}' for word in option.words)
    return f"std::array<Word<{option.enum}>, {len(option.words)}>{{{{{rows}}}}}"


def suite_header(options: tuple[Option, ...]) -> str:
    ours = [option for option in options if option.suite]
    named = [option for option in ours if option.name]
    lines = ["/// What a user can set that only some benchmarks use; the same for all of a launch."]
    lines += ["struct SuiteOptions {", *_members(ours, each=False), "};"]
    lines += ["inline const SuiteOptions usual_suite_options{};", ""]
    lines += ["/// Cards name those that a benchmark uses.", "enum class SuiteOption {"]
    lines += [f"  {option.name.replace('-', '_')}," for option in named]
    lines += ["};", "", "/// In the order of SuiteOption."]
    lines += [f"inline constexpr std::array<SuiteOptionRow, {len(named)}> suite_option_rows{{{{"]
    lines += [f"    {{{_suite_row(option)}}}," for option in named] + ["}};", ""]
    standard = ("<array>", "<cstddef>", "<cstdint>", "<optional>", "<string>", "<vector>")
    includes = ("core/option_text.hpp", "core/option_words.hpp")
    own = [option.include for option in ours if option.include]
    return cpp_header(SCHEMA, lines, *standard, *own, *includes)


def _suite_row(option: Option) -> str:
    text = f"text_of<&SuiteOptions::{option.kept_as}>"
    return ", ".join(
        (f'"{option.name}"', text, *(str(flag).lower() for flag in (option.column, option.by_all)))
    )


def _members(options: list[Option], each: bool) -> list[str]:
    lines = []
    for option in options:
        of = f"std::vector<{option.cpp_type}>" if each else option.cpp_type
        about = f"{option.about} Each is measured." if each else option.about
        default = "" if each or option.default is None else f" = {_literal(option)}"
        lines += [*cpp_comment(about, "  "), f"  {of} {option.kept_as}{default};"]
    return lines


def _literal(option: Option) -> str:
    value = option.default
    if option.type == "word":
        return option.enumerator(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "{" + ", ".join(f'"{each}"' for each in value) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def fields_header(options: tuple[Option, ...]) -> str:
    ours = [option for option in options if not option.suite]
    each = [option for option in options if option.each]
    lines = ["/// What can be said to the kernels; what only some benchmarks use is in `suite`."]
    lines += ["struct OptionFields {", *_members(ours, each=False), "  SuiteOptions suite;"]
    lines += [*_members(each, each=True), "};", ""]
    for option in ours:
        if option.type == "int" and option.most is not None:
            lines += [*cpp_comment(f"The most that --{option.name} takes.")]
            lines += [f"inline constexpr int most_{option.kept_as} = {int(option.limits[1])};", ""]
    standard = ("<cstddef>", "<cstdint>", "<optional>", "<string>", "<vector>")
    includes = [option.include for option in ours if option.include]
    return cpp_header(SCHEMA, lines, *standard, "core/suite_options.hpp", *includes)


def option_table(options: tuple[Option, ...]) -> str:
    lines = [*head(SCHEMA, "//"), "// clang-format off"]
    lines += ['#include "driver/option_table.hpp"', "", '#include "driver/option_readers.hpp"', ""]
    lines += ["namespace mpigauge {", "", "const std::vector<OptionRow>& option_table() {"]
    lines += ["  using O = OptionFields;", "  using S = SuiteOptions;"]
    lines += ["  static const std::vector<OptionRow> rows{"]
    for option in options:
        if option.name:
            help_text = quoted(f"{option.about}{default_words(option)}")
            lines += [f'      {{"{option.name}",', f"       {help_text},"]
            lines += [f"       {_setter(option)}}},"]
    lines += ["  };", "  return rows;", "}", ""]
    lines += ["std::vector<SuiteOptions> combinations_of(const OptionFields& o) {"]
    lines += ["  std::vector<SuiteOptions> all{o.suite};"]
    varied = [option.kept_as for option in options if option.each]
    lines += [f"  vary(all, &SuiteOptions::{name}, o.{name});" for name in varied]
    return "\n".join([*lines, "  return all;", "}", "", "}  // namespace mpigauge", ""])


def default_words(option: Option) -> str:
    shown = option.shown_default
    return f"  [default: {shown}]" if shown else ""


def _setter(option: Option) -> str:
    into = f"&{'S' if option.suite else 'O'}::{option.kept_as}"
    first = f"&O::{option.kept_as}, {into}" if option.each else into
    return f"into({', '.join([first, *_limits(option)])})"


def _limits(option: Option) -> list[str]:
    if option.reader:
        return [option.reader]
    if option.type == "word":
        return [] if option.own_enum else [_word_array(option)]
    if option.type not in NUMBERS:
        return []
    number = NUMBERS[option.type]
    least, most = option.limits
    return [f"Range<{number}>{{{least}, {most}{'U' if option.type == 'seed' else ''}}}"]


# --- docs ----------------------------------------------------------------------------------
DOCS_HEAD = """# Options of the kernels

The options that `mpigauge` passes to the measuring program (`mpigauge-kernel`). Most have the same
name on the command line of `mpigauge`, whose options are in [commands](commands.md).
"""


def docs_page(options: tuple[Option, ...]) -> str:
    lines = [f"<!-- {made_by(SCHEMA)} -->", *DOCS_HEAD.split("\n")]
    lines += ["## For all benchmarks", "", *_docs_table(options, suite=False)]
    lines += ["", "## For some benchmarks", ""]
    lines += ["`mpigauge benchmarks --json` lists the options of each benchmark.", ""]
    return "\n".join([*lines, *_docs_table(options, suite=True), ""])


def _docs_table(options: tuple[Option, ...], suite: bool) -> list[str]:
    rows = [_docs_row(option) for option in options if option.suite == suite and option.name]
    return ["| option | value | default | meaning |", "|---|---|---|---|", *rows]


def _docs_row(option: Option) -> str:
    words = "; ".join(f"`{word}`: {about}" for word, about in option.words.items())
    meaning = f"{option.about} {words}".strip()
    default = option.shown_default
    cells = (f"`--{option.name}`", _docs_value(option), default, meaning.replace("|", r"\|"))
    return f"| {' | '.join(cells)} |"


def _docs_value(option: Option) -> str:
    if option.words:
        return ", ".join(option.words)
    if option.type == "flag":
        return "0 or 1"
    limits = [
        f"{word} {limit:,}".replace(",", " ")
        for word, limit in (("from", option.least), ("to", option.most))
        if limit
    ]
    kind = {"real": "number", "int": "whole number", "ints": "whole numbers", "sizes": "bytes"}
    of = kind.get(option.type, option.type if option.type in KNOWN_TYPES else "text")
    return " ".join([of, *limits])


def outputs(path: Path) -> dict[str, str]:
    options = tuple(option for option in read_options(path) if option.kernels)
    return {
        "kernels/core/option_words.hpp": words_header(options),
        "kernels/core/suite_options.hpp": suite_header(options),
        "kernels/driver/option_fields.hpp": fields_header(options),
        "kernels/driver/option_table.cpp": option_table(options),
        "docs/reference/options.md": docs_page(options),
    }
