# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tables of IMB 3.1 to 2021, all suites, and of programs with the same output.

Logs are read in any form: several runs one after another, launchers' prefixes of lines, module
output between tables, tables cut short. A line in a table that is not a row is reported; lines
outside of tables are ignored. A new banner, or a table that occurs again, begins a new launch.
"""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.record import Skip
from mpigauge.runs.readers.imb_columns import BINARY_MEGABYTE, megabyte
from mpigauge.runs.readers.imb_header import Header
from mpigauge.runs.readers.imb_heading import CHANGES, TIMED, HeadingSection, changed, heading_in
from mpigauge.runs.readers.imb_lines import parse_line
from mpigauge.runs.readers.imb_rows import WIDTH, IrregularError, regular_rows, row_pattern
from mpigauge.runs.readers.imb_section import conversions, kind_of
from mpigauge.runs.readers.imb_tables import TableDraft, finished
from mpigauge.runs.readers.known import known_cards
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import (
    arm_of,
    is_command,
    placement_in_command,
    setting_in,
    settings_in_command,
)
from mpigauge.runs.readers.text import NUMBER, why_no_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.runs.readers.imb_heading import Heading, HeadingKind, Heads
    from mpigauge.runs.readers.text import Text

_ROW_ALONE = rb"\d+[ \t]+\d+[ \t]+\d+\.\d\d[ \t]+\d+\.\d\d[ \t]*$"
MARK = rb"#repetitions|# Benchmarking |^(?:[A-Za-z]\w*)?[ \t]+" + _ROW_ALONE
LABELLED = re.compile(r"^([A-Za-z]\w*)?\s+(\d+\s.*)$")
NOTE = re.compile(r"(?<!\S)(\d+) (out-of-mem|int-overflow|time-out)[.;]*(?:.*X= *([\d.]+))?")
HALO = re.compile(rf"(\d+)\(x(\d+)\)\(bytes\)\s+({NUMBER})\(usec\)")
REASONS = {
    "out-of-mem": "not enough memory: needs {} GiB per rank, which IMB was not allowed",
    "int-overflow": "more than 2147483647 elements, which MPI counts as int here",
    "time-out": "no time was left for it",
}
ALONE = ("#bytes", "#repetitions", "t[usec]", "Mbytes/sec")
"""The columns of rows without a heading."""
TAKEN_FOR = "PingPong"
_HEADING = 1500
"""The most bytes that a heading has, when it is searched as a whole."""
_DAMAGED = re.compile(r"^\s*(?:\d|\.\.\.)")


@reader("imb", "IMB 3.1 to 2021, all suites, and `--format imb` of mpigauge", MARK)
def read(text: Text) -> Reading:
    with _no_collection():
        try:
            return _Log(text).reading()
        except IrregularError:
            return _Log(text, careful=True).reading()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disables the garbage collector, which would spend an eighth of the time on many tables
    without cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass
class _Log:
    """The state of the text at a line, and everything read before it."""

    text: Text
    careful: bool = False
    """True if each row is parsed by itself."""
    header: Header = field(default_factory=Header)
    section: HeadingSection | None = None
    heads: Heads = ()
    launch: int = 0
    is_command: bool = False
    in_rows: bool = False
    halo: TableDraft | None = None
    """The table of HALO's last heading, once it has a row."""
    settings: dict[str, str] = field(default_factory=dict)
    of_command: dict[str, str] = field(default_factory=dict)
    """The settings in the command line of the run."""
    placement: str = ""
    """The placement of ranks in the command line."""
    arm: str = ""
    headings: dict[bytes, Heading | None] = field(default_factory=dict)
    kinds: dict[tuple[str, ...], dict[tuple[HeadingSection, Heads], HeadingKind]] = field(
        default_factory=dict
    )
    """The kinds of tables by heading, for runs with the same header."""
    seen: set[tuple[Any, ...]] = field(default_factory=set)
    """Headings of this launch."""
    drafts: list[TableDraft] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    remarks: dict[str, None] = field(default_factory=dict)
    launches: dict[int, tuple[Header, int]] = field(default_factory=dict)
    """The header and the least number of ranks of each launch."""
    line: int = 0

    def run(self) -> None:
        data, position = self.text.data, 0
        while position < len(data):
            end = data.index(b"\n", position)
            line = data[position:end]
            self.line += 1
            position = end + 1
            if b"#" in line:
                self._comment(line)
                if self.in_rows and not self.careful:
                    position = self._regular(data, position)
            else:
                self._plain(line.decode("utf-8", "replace"))

    def _regular(self, data: bytes, position: int) -> int:
        """Reads rows of full width, and following tables with a known heading, up to a line that
        needs parsing by itself."""
        while self.in_rows and (rows := regular_rows(data, position, self.heads)):
            size = rows * (WIDTH * len(self.heads) + 1)
            self.drafts[-1].regular = data[position : position + size]
            position += size
            self.line += rows
            head = data.find(b"#repetitions", position, position + _HEADING)
            end = data.index(b"\n", head) + 1 if head >= 0 else position
            if not (heading := self._heading(data[position:end])):
                break
            self.section, self.heads = heading.section, heading.heads
            self.line += heading.lines
            position = end
            self._begin(heading.section, heading.heads)
        return position

    def _heading(self, block: bytes) -> Heading | None:
        """The heading between the end of a table and the next head, if the lines hold nothing else;
        the same headings occur again in each run."""
        if block not in self.headings:
            self.headings[block] = heading_in(block) if block else None
        return self.headings[block]

    def reading(self) -> Reading:
        self.run()
        tables, skips = finished(self.drafts)
        self._tell_unit()
        used = {id(draft.card): draft.card for draft in self.drafts}.values()
        return Reading(
            tables=tables,
            skips=(*self.skips, *skips),
            launches=tuple(
                unknown_launch(number, **header.of_launch(), world_ranks=ranks)
                for number, (header, ranks) in self.launches.items()
            ),
            unread=tuple(self.unread),
            remarks=tuple(self.remarks),
            cards=tuple(card for card in used if card not in known_cards().benchmarks),
        )

    def _tell_unit(self) -> None:
        """Adds a remark about old versions, which count 2^20 bytes as a megabyte; without a banner
        the numbers show it."""
        old = (d for d in self.drafts if d.is_old and "Mbytes/sec" in d.heads)
        units = (megabyte(draft.card, draft.shape, draft.printed) for draft in old)
        if next((unit for unit in units if unit == unit), 0) == BINARY_MEGABYTE:
            self.remarks["Mbytes/sec in the text are of 2^20 bytes, here MB/s are of 10^6"] = None

    # --- lines with a # in them -------------------------------------------------------------
    def _comment(self, line: bytes) -> None:
        what, words = parse_line(line)
        self.in_rows = False
        if self.is_command and what == "comment":
            self.header.command += words[0].split()
            return
        self.is_command = what == "command"
        if what in CHANGES:
            self.section, self.heads = changed(self.section, what, words), ()
        elif act := getattr(self, f"on_{what}", None):
            act(*words)

    def on_banner(self, version: str, part: str, gpu: str = "") -> None:
        if self.seen:
            self._next_launch()
        command = self.header.command if not self.header.version else []
        self.header = Header.of_banner(version, part, bool(gpu))
        self.header.command += command
        self.section, self.heads = None, ()

    def on_fact(self, name: str, value: str) -> None:
        self.header.facts[name] = value

    def on_invalid(self, name: str, ranks: str) -> None:
        kind = self._kind(HeadingSection(name, int(ranks)), ())
        self._tell_launch(int(ranks))
        self._skip(kind.fixed, -1, f"IMB does not run it on {ranks} ranks")

    def on_halo(self, name: str, ranks: str, threads: str, dimensions: str) -> None:
        self.section = HeadingSection(
            name, int(ranks), threads=int(threads), dimensions=int(dimensions)
        )
        self.heads = ()
        self.header.suite = "HALO"
        self.halo = None

    def on_heads(self, *heads: str) -> None:
        """Begins a table, if its head names a time or a rate."""
        if self.section is None or not self.section.ranks or not TIMED & set(heads):
            why = _why_no_table(self.section, heads)
            self.unread.append(Unread(self.line, " ".join(heads), why))
            self.section, self.heads = None, ()
            return
        self.heads = heads
        self.in_rows = True
        self._begin(self.section, heads)

    # --- tables -----------------------------------------------------------------------------
    def _begin(self, section: HeadingSection, heads: Heads, label: str = "") -> TableDraft:
        kind = self._kind(section, heads)
        told_apart = section[:-1]  # rows do not state how many ranks are idle
        placement = label or kind.fixed["placement"] or self.placement
        signature = (told_apart, kind.card.suite, self.arm, placement)
        if signature in self.seen:
            self._next_launch()
        self.seen.add(signature)
        fixed = {**kind.fixed, "launch": self.launch, "arm": self.arm, "placement": placement}
        self._tell_launch(section.world_ranks)
        draft = TableDraft(kind.card, kind.shape, heads, fixed, is_old=self.header.may_be_old)
        self.drafts.append(draft)
        return draft

    def _kind(self, section: HeadingSection, heads: Heads) -> HeadingKind:
        """The kind of tables with this heading in this run of IMB."""
        if (kinds := self.header.kinds) is None:
            kinds = self.header.kinds = self.kinds.setdefault(self.header.alike, {})
        if (kind := kinds.get((section, heads))) is None:
            kind = kinds[section, heads] = kind_of(section, heads, self.header)
            self.remarks |= dict.fromkeys(conversions(kind))
        return kind

    def _next_launch(self) -> None:
        self.launch += 1
        self.seen.clear()

    def _tell_launch(self, ranks: int) -> None:
        header, most = self.launches.get(self.launch, (None, 0))
        if header is not self.header or ranks > most:
            self.launches[self.launch] = (self.header, max(ranks, most))

    def _skip(self, fixed: Mapping[str, Any], size: int, reason: str) -> None:
        key = {name: fixed[name] for name in KEY_COLUMNS if name in fixed}
        self.skips.append(Skip(self.launch, key | {"message_bytes": size}, reason))

    # --- other lines ------------------------------------------------------------------------
    def _plain(self, line: str) -> None:
        if not line.strip():
            self.in_rows = self.in_rows and "Group" in self.heads
        elif setting := setting_in(line):
            self.settings[setting[0]] = setting[1]
            self.arm = arm_of(self.settings | self.of_command)
        elif is_command(line):
            self._command(line)
        elif self.heads:
            self._in_table(line)
        elif self.section and (match := HALO.search(line)):
            self._halo_row(self.section, *match.groups())
        elif match := LABELLED.match(line):
            self._alone(match[1] or "", match[2])

    def _command(self, line: str) -> None:
        """Takes settings and placement from the command of a run, and its options, which not all
        programs print."""
        self.of_command = settings_in_command(line)
        self.placement = placement_in_command(line)
        self.arm = arm_of(self.settings | self.of_command)
        self.header = Header(command=line.partition("IMB-")[2].split()[1:])
        self.section, self.heads = None, ()

    def _in_table(self, line: str) -> None:
        draft = self.drafts[-1]
        if match := row_pattern(self.heads).search(line):
            draft.rows.append(tuple(map(float, match.groups())))
            self.in_rows = True
        elif match := NOTE.search(line):
            reason = REASONS[match[2]].format(match[3] or "more")
            self._skip(draft.fixed, int(match[1]), reason)
        elif self.in_rows and _DAMAGED.match(line):
            self.unread.append(Unread(self.line, line.strip(), _why(line, self.heads)))

    def _halo_row(self, section: HeadingSection, size: str, messages: str, time: str) -> None:
        """Adds a row of HALO. Along a side of one nothing is sent, so dimensions are those of the
        messages: four each, sent and received in both directions."""
        if self.halo is None:
            section = section._replace(dimensions=int(messages) // 4)
            self.halo = self._begin(section, ("#bytes", "#repetitions", "t[usec]"))
        self.halo.rows.append((float(size), 0.0, float(time)))

    def _alone(self, label: str, line: str) -> None:
        """Adds a row without a heading, as `grep` leaves them; the word before it is kept as
        placement."""
        match = row_pattern(ALONE).fullmatch(line.strip())
        row = tuple(map(float, match.groups())) if match else ()
        if not row or not _is_transfer(*row):
            return
        last = self.drafts[-1] if self.drafts and self.drafts[-1].label is not None else None
        if last is None or last.label != label or row[0] <= last.rows[-1][0]:
            last = self._begin(self._section_alone(), ALONE, label)
            last.label = label
        last.rows.append(row)

    def _section_alone(self) -> HeadingSection:
        """The section of rows without a heading: from the text or the user, else a likely one."""
        if self.section and self.section.ranks:
            return self.section
        if not self.text.benchmark:
            self.remarks[f"tables without a heading are taken for {TAKEN_FOR} on 2 ranks; "
                         "--benchmark names another"] = None  # fmt: skip
        return HeadingSection(self.text.benchmark or TAKEN_FOR, 2)


def _is_transfer(size: float, repetitions: float, time: float, rate: float) -> bool:
    """True if the rate is that of one message in this time, unlike the numbers of other
    programs."""
    expected = size / time if time > 0 else 0.0
    return repetitions >= 1 and abs(rate - expected) <= 0.1 * expected + 0.02


def _why_no_table(section: HeadingSection | None, heads: Heads) -> str:
    if TIMED & set(heads):
        missing = "ranks" if section else "benchmark"
        return f"no {missing} precedes this table, which is left out"
    return "this table has no time and no rate, and is left out"


def _why(line: str, heads: Heads) -> str:
    if line.strip().startswith("..."):
        return "rows are left out here"
    return why_no_row(line.split(), heads)
