# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The trees by which MPICH 5.0 selects algorithms, as JSON files that replace them.

Rules change two of them. The device's tree gives the composition of a collective; parts that the
device does not do itself are selected by the general tree. Keys are conditions, tested in their
order. A file replaces the whole tree, and a collective that is missing there ends the program at
its first call. So the trees are read from the library that will run, rules are inserted, and
everything else stays as it was. A library without these trees gets no rules.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.model.rules import Rule, candidate_at, of_collective
from mpigauge.site.mpi.rule_files.candidates import Candidate, candidates_of, find_candidate
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS, Effect, LookUp, Texts

Tree = Mapping[str, Any]
DEVICE, GENERAL = "device.json", "general.json"
VARIABLES = {
    DEVICE: "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
    GENERAL: "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
}
MARKS = {DEVICE: "composition=MPIDI_", GENERAL: "algorithm=MPIR_"}
"""Texts that occur in the leaves of each tree, and in no other."""
OF_ALL_RANKS = ("Allgather", "Reduce_scatter", "Reduce_scatter_block", "Gather", "Scatter")
"""Collectives whose trees count the messages of all ranks together."""
_ALGORITHM = "algorithm="
_BEGINNING = b'{"collective='
_LONGEST = 1 << 20
_ELSE = {
    "is_commutative=no": "is_commutative=yes",
    "is_op_built_in=no": "is_op_built_in=yes",
    "is_sendbuf_inplace=yes": "is_sendbuf_inplace=no",
    "is_multi_threaded=yes": "is_multi_threaded=no",
    "is_multi_threaded=no": "is_multi_threaded=yes",
    "count<pow2": "count=any",
}
"""The opposite of each condition."""
_ONE_THREAD, _SEVERAL_THREADS = "is_multi_threaded=no", "is_multi_threaded=yes"
"""The conditions for threads. Rules are measured under either, and their defaults differ."""


class MpichRules:
    measured_with: Mapping[str, str] = {}
    told_with: Mapping[str, str] = {"MPIR_CVAR_DEBUG_SUMMARY": "1"}
    tells_threads = True
    names_default = True

    def refusal(self, mpi: Mpi) -> str:
        if not mpi.version.startswith("5.0."):
            return f"trees of rules are known for MPICH 5.0, and this is {mpi.label}"
        try:
            trees_of(mpi.library)
        except ValueError as error:
            return str(error)
        return ""

    def write(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> Texts:
        trees, every = trees_of(mpi.library), candidates_of(mpi.name)
        other = _ONE_THREAD if several_threads else _SEVERAL_THREADS
        changed = {name: laid_over(tree, name, rules, every, other) for name, tree in trees.items()}
        return {name: json.dumps(tree, indent=1) + "\n" for name, tree in changed.items()}

    def read(self, mpi: Mpi, texts: Texts, several_threads: bool = False) -> LookUp:
        del mpi
        return _look_up({name: json.loads(texts[name]) for name in VARIABLES}, several_threads)

    def expected(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> LookUp:
        every, usual = candidates_of(mpi.name), _look_up(trees_of(mpi.library), several_threads)

        def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
            composition, algorithm = usual(collective, ranks, message_bytes)
            name = candidate_at(rules, collective, ranks, message_bytes)
            if not name:
                return composition, algorithm
            candidate = find_candidate(every, collective, name)
            return candidate.composition or composition, _with_parameters(candidate)

        return look_up

    def measured_among(self, collective: str, hosts: int) -> Mapping[str, str]:
        """Returns nothing: the rules hold for any number of hosts."""
        del collective, hosts
        return {}

    def settings(self, folder: Path) -> Mapping[str, str]:
        return {variable: str((folder / name).absolute()) for name, variable in VARIABLES.items()}

    def has_read(self, folder: Path, output: str) -> bool:
        """True if the output has the file of each level."""
        return all(path in output for path in self.settings(folder).values())


RULE_FORMATS.add("mpich", MpichRules())


def trees_of(library: Path) -> dict[str, Tree]:
    """Returns the default trees in this library. ValueError: it does not hold one of each."""
    texts = list(_texts_in(library))
    trees = {}
    for name, mark in MARKS.items():
        own = [text for text in texts if mark in text and _only(mark, text)]
        if len(own) != 1:
            raise ValueError(f"{library} holds {len(own)} trees of rules with {mark}*, not one")
        trees[name] = json.loads(own[0])
    return trees


def _only(mark: str, text: str) -> bool:
    return not any(other in text for other in MARKS.values() if other != mark)


def _texts_in(library: Path) -> Iterator[str]:
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(_BEGINNING)
        while at >= 0:
            end = data.find(b"\0", at, at + _LONGEST)
            if end < 0:
                return
            text = data[at:end].decode("utf-8", "replace")
            if _is_json(text):
                yield text
            at = data.find(_BEGINNING, end)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


# --- writing -----------------------------------------------------------------------------------
def laid_over(
    tree: Tree, name: str, rules: Sequence[Rule], every: Sequence[Candidate], other_threads: str
) -> dict[str, Any]:
    """Returns the tree of this file with the rules that concern it, and the original branches where
    `other_threads` holds. UserError: its structure is unknown."""
    changed = dict(tree)
    for collective in dict.fromkeys(rule.collective for rule in rules):
        own = of_collective(rules, collective)
        leaves = [
            (rule, _leaf(name, find_candidate(every, collective, rule.candidate))) for rule in own
        ]
        rules_with_leaves = [(rule, leaf) for rule, leaf in leaves if leaf]
        if rules_with_leaves:
            key = f"collective={collective.lower()}"
            changed[key] = _with_rules(
                tree.get(key, {}), key, rules_with_leaves, every, other_threads
            )
    return changed


def _leaf(name: str, candidate: Candidate) -> str:
    """Returns the leaf of a rule in this file; empty: it has none."""
    if name == GENERAL:
        return f"{_ALGORITHM}{candidate.algorithm}"
    if candidate.composition:
        return f"composition={candidate.composition}"
    return ""


def _with_rules(
    tree: Tree,
    key: str,
    rules: Sequence[tuple[Rule, str]],
    every: Sequence[Candidate],
    other_threads: str,
) -> dict[str, Any]:
    usual = tree.get("comm_type=intra")
    if not usual:
        raise UserError(f"the tree of rules in this MPICH has no branch comm_type=intra of {key}")
    by_ranks: dict[str, Any] = {}
    for ranks in sorted({rule.ranks for rule, _ in rules}):
        own = [(rule, leaf) for rule, leaf in rules if rule.ranks == ranks]
        by_ranks[f"comm_size<{ranks}"] = usual
        by_ranks[f"comm_size<={ranks}"] = _unless(other_threads, usual, _by_size(own, usual, every))
    by_ranks["comm_size=any"] = usual
    return {**tree, "comm_type=intra": by_ranks}


def _by_size(
    rules: Sequence[tuple[Rule, str]], usual: Tree, every: Sequence[Candidate]
) -> dict[str, Any]:
    """Returns ascending branches, each up to its last byte, with the default between and after."""
    branches: dict[str, Any] = {}
    covered = -1
    for rule, leaf in rules:
        word, times = _measure(rule.collective, rule.ranks)
        first, last = rule.first_bytes * times, (rule.last_bytes + 1) * times - 1
        if first > covered + 1:
            branches[f"{word}<={first - 1}"] = usual
        candidate = find_candidate(every, rule.collective, rule.candidate)
        of_algorithm = leaf.startswith(_ALGORITHM)
        guarded: dict[str, Any] = {leaf: _parameters(candidate) if of_algorithm else {}}
        for condition in reversed(candidate.not_for):
            guarded = _unless(condition, usual, guarded)
        branches[f"{word}<={last}"] = guarded
        covered = last
    branches[f"{word}=any"] = usual
    return branches


def _parameters(candidate: Candidate) -> dict[str, Any]:
    """Returns the keys below an algorithm, which ends the program if one is missing."""
    return {f"{name}={value}": {} for name, value in candidate.parameters.items()}


def _with_parameters(candidate: Candidate) -> str:
    return " ".join([candidate.algorithm, *_parameters(candidate)])


def _unless(condition: str, usual: Tree, otherwise: Tree) -> dict[str, Any]:
    return {condition: usual, _ELSE[condition]: otherwise}


def _measure(collective: str, ranks: int) -> tuple[str, int]:
    """Returns the kind of size in the branches, and its ratio to the message."""
    if collective in OF_ALL_RANKS:
        return "total_msg_size", ranks
    return "avg_msg_size", 1


# --- looking up --------------------------------------------------------------------------------
@dataclass(frozen=True)
class Call:
    """A call of a collective among ranks of one host, with a usual operation."""

    collective: str
    ranks: int
    message_bytes: int
    several_threads: bool = False

    def holds(self, condition: str) -> bool:
        """True if a condition holds. ValueError: it is unknown."""
        if condition in _FACTS:
            return _FACTS[condition]
        if condition in (_ONE_THREAD, _SEVERAL_THREADS):
            return self.several_threads == (condition == _SEVERAL_THREADS)
        word, sign, number = _split(condition)
        if number == "any":
            return True
        if (word, number) == ("comm_size", "pow2"):
            return self.ranks & (self.ranks - 1) == 0
        if (word, number) == ("comm_size", "node_comm_size"):
            return True
        if (word, number) == ("count", "pow2"):
            return False
        value = self._value(word, condition)
        if not number.isdigit():
            raise ValueError(f"there is no condition '{condition}'")
        return value < int(number) + (sign == "<=")

    def _value(self, word: str, condition: str) -> int:
        average, times = self.message_bytes, self.ranks
        if self.collective in OF_ALL_RANKS or self.collective == "Alltoall":
            values = {"avg_msg_size": average, "total_msg_size": average * times}
        else:
            values = {"avg_msg_size": average, "total_msg_size": average}
        values["comm_size"] = self.ranks
        if word not in values:
            raise ValueError(f"there is no condition '{condition}'")
        return values[word]


_FACTS = {
    "comm_type=intra": True, "comm_type=inter": False, "comm_hierarchy=parent": False,
    "is_commutative=yes": True,
    "is_commutative=no": False, "is_op_built_in=yes": True, "is_op_built_in=no": False,
    "is_sendbuf_inplace=yes": False, "is_sendbuf_inplace=no": True, "is_block_regular=yes": True,
    "is_block_regular=no": False,
}  # fmt: skip
_LEAVES = (_ALGORITHM, "composition=")


def _split(condition: str) -> tuple[str, str, str]:
    for sign in ("<=", "<", "="):
        word, separator, number = condition.partition(sign)
        if separator:
            return word, sign, number
    raise ValueError(f"there is no condition '{condition}'")


def _look_up(trees: Mapping[str, Tree], several_threads: bool) -> LookUp:
    def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
        call = Call(collective, ranks, message_bytes, several_threads)
        return tuple(_selected(trees[name], call) for name in (DEVICE, GENERAL))

    return look_up


def _selected(tree: Tree, call: Call) -> str:
    """Returns the leaf that MPICH selects: it enters the first branch that holds, and never
    backtracks. ValueError: there is none, which ends the program."""
    at = tree.get(f"collective={call.collective.lower()}")
    if at is None:
        raise ValueError(f"there is no branch for {call.collective}")
    while True:
        leaf: str = next((key for key in at if key.startswith(_LEAVES)), "")
        if leaf:
            return " ".join([leaf.partition("=")[2], *at[leaf]])
        branch = next((key for key in at if call.holds(key)), None)
        if branch is None:
            raise ValueError(f"no branch holds for {call}")
        at = at[branch]
