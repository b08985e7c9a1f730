# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measures how the Python of a checkout is put together, and prints a column for each checkout.

`python tools/structure.py` looks at this checkout, `--at PATH` at another; several stand beside
each other, so a change can be seen before and after:

    git worktree add ../before 53932c6
    python tools/structure.py --at ../before --at .

The code is read, never run. Generated files are left out of all that is counted in them.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools.english import FRAGMENT, PARTICIPLE, places

PACKAGE = "mpigauge"
GENERATED = "Made by tools/generate.py"
STAGES = ("draw", "site", "runs", "result", "show", "measuring", "session", "cli")
"""The stages that products share, except model."""
REGISTRIES = ("model", "commands", "causes", "checks", "runs.readers", "show.plots", "show.formats")
"""The folders with a file for each entry, and that of values: any number of files is right."""
OPTIONS = ("cli.options", "cli.program_options", "cli.helping", "cli.habits", "cli.paths")
"""The modules of click options, which the commands of products share."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PAGES = r"products\.\w+\.(show\w*(\.\w+)?|pages|\w+_pages)$"
SHOWING = re.compile(rf"(show|report)\.|{_PAGES}")
"""The modules that show results of others (`show` was once called `report`)."""
MAY_CALL = re.compile(rf"(model|draw|show|report)(\.|$)|{_PAGES}")
"""The modules that they may call for it: none of them analyses a run."""


@dataclass(frozen=True)
class Taken:
    """A name that one module takes from another; the name is empty where it is the module."""

    by: str
    module: str
    name: str
    when: str
    """The time of import: "start", with the module; "late", in a function; "never", for types."""


@dataclass(frozen=True)
class Module:
    name: str
    """The name without the package: `runs.store.reader`, and `runs.store` for its `__init__.py`."""
    tree: ast.Module
    lines: int
    """The number of lines that are not blank."""
    text_lines: int

    @property
    def folder(self) -> str:
        """The top folder; a module that lies in none is one of its own."""
        return self.name.partition(".")[0]

    @cached_property
    def functions(self) -> frozenset[str]:
        return frozenset(node.name for node in self.tree.body if isinstance(node, FUNCTIONS))

    @cached_property
    def passed_on(self) -> frozenset[str]:
        """The names that the module imports when imported; those of a package hide submodules."""
        imports = (node for node in self.tree.body if isinstance(node, ast.ImportFrom))
        return frozenset(each.asname or each.name for node in imports for each in node.names)

    def count(self, *kinds: type[ast.AST]) -> int:
        return sum(isinstance(node, kinds) for node in ast.walk(self.tree))


class Checkout:
    """The modules of the package below `src` of one checkout."""

    def __init__(self, root: Path) -> None:
        """FileNotFoundError: there is no such package."""
        self.package = root / "src" / PACKAGE
        if not self.package.is_dir():
            raise FileNotFoundError(
                f"{root} is not a checkout of {PACKAGE}: it has no src/{PACKAGE}"
            )
        self.modules: dict[str, Module] = {}
        self.generated: list[str] = []
        for path in sorted(self.package.rglob("*.py")):
            self._read(path)

    def _read(self, path: Path) -> None:
        parts = path.relative_to(self.package).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        text = path.read_text(encoding="utf-8")
        if GENERATED in text[:500]:
            self.generated.append(name)
        lines = sum(bool(line.strip()) for line in text.splitlines())
        self.modules[name] = Module(name, ast.parse(text), lines, len(text.splitlines()))

    @property
    def written(self) -> list[Module]:
        """The modules that are not generated."""
        return [each for name, each in self.modules.items() if name not in self.generated]

    @property
    def folders(self) -> list[str]:
        return sorted({name.partition(".")[0] for name in self.modules if "." in name})

    @cached_property
    def taken(self) -> list[Taken]:
        """All that modules take from each other."""
        return [each for module in self.modules.values() for each in self._taken_by(module)]

    def _taken_by(self, module: Module) -> Iterator[Taken]:
        for node, when in _imports(module.tree.body, "start"):
            if isinstance(node, ast.Import):
                pairs = [(each.name, "") for each in node.names]
            else:
                pairs = [(node.module or "", each.name) for each in node.names]
            for source, name in pairs:
                yield from self._resolved(module.name, source, name, when)

    def _resolved(self, by: str, source: str, name: str, when: str) -> Iterator[Taken]:
        if source != PACKAGE and not source.startswith(f"{PACKAGE}."):
            return
        inside = source[len(PACKAGE) + 1 :]
        submodule = f"{inside}.{name}".strip(".")
        module = self.modules.get(inside)
        hidden = module and name in module.passed_on and not by.startswith(f"{inside}.")
        if name and submodule in self.modules and not hidden:
            yield Taken(by, submodule, "", when)
        elif module and inside != by:
            yield Taken(by, inside, name, when)

    # --- what is counted ------------------------------------------------------------------------
    def names_across_folders(self) -> set[tuple[str, str]]:
        """Names (not modules as such) of one top folder that another one takes, each once."""
        return {
            (each.module, each.name)
            for each in self.taken
            if each.name and each.module and self._folder(each.by) != self._folder(each.module)
        }

    def _folder(self, name: str) -> str:
        return self.modules[name].folder

    def circles(self, *when: str) -> list[list[str]]:
        """Modules that import each other, directly or through others."""
        graph: dict[str, set[str]] = {name: set() for name in self.modules}
        for each in self.taken:
            if each.when in when:
                graph[each.by].add(each.module)
        return [circle for circle in strongly_connected(graph) if len(circle) > 1]

    def circles_of_folders(self) -> list[list[str]]:
        graph: dict[str, set[str]] = {self._folder(name): set() for name in self.modules}
        for each in self.taken:
            if each.module:
                graph[self._folder(each.by)].add(self._folder(each.module))
        return [circle for circle in strongly_connected(graph) if len(circle) > 1]

    def climbs(self) -> set[tuple[str, str]]:
        """Returns functions of other stages that modules which show a run call, with the caller:
        if a result is computed once, showing it needs none of them."""
        return {
            (each.by, f"{each.module}.{name}")
            for each in self.taken
            if each.module and each.when != "never"
            if SHOWING.match(each.by) and not MAY_CALL.match(each.module)
            for name in self._functions_of(each)
        }

    def _functions_of(self, taken: Taken) -> Iterable[str]:
        """Returns the function that was taken, also through a package that passes it on; "*" for a
        module."""
        if not taken.name:
            return ["*"]
        if taken.name in self.modules[taken.module].functions:
            return [taken.name]
        behind = (each for each in self._passed_on[taken.module] if each.name == taken.name)
        return [each.name for each in behind if each.name in self.modules[each.module].functions]

    @cached_property
    def _passed_on(self) -> Mapping[str, list[Taken]]:
        """The names that each module takes and may pass on, by module."""
        by_module: dict[str, list[Taken]] = {name: [] for name in self.modules}
        for each in self.taken:
            by_module[each.by].append(each)
        return by_module

    def per_1000_lines(self, *kinds: type[ast.AST]) -> float:
        lines = sum(each.lines for each in self.written)
        return 1000 * sum(each.count(*kinds) for each in self.written) / max(lines, 1)

    def shared_exports(self, stage: str) -> tuple[int, int]:
        """Returns the number of names that modules outside a stage take from it with two users or
        more, and that of all. A product is one user."""
        users: dict[tuple[str, str], set[str]] = defaultdict(set)
        for each in self.taken:
            if each.name and self._folder(each.module) == stage != self._folder(each.by):
                users[each.module, each.name].add(self._user(each.by))
        return sum(len(by) > 1 for by in users.values()), len(users)

    def _user(self, name: str) -> str:
        """Returns the product of a module, else the module."""
        parts = name.split(".")
        return ".".join(parts[:2]) if parts[0] == "products" else name

    def places(self, product: str) -> set[str]:
        """Returns the folders with modules that serve this product alone, directly or through
        others of them: those of the product, and of stages."""
        own = {name for name in self.modules if name.startswith(f"products.{product}.")}
        by_module: dict[str, set[str]] = defaultdict(set)
        for each in self.taken:
            if each.module and each.by != each.module:
                by_module[each.module].add(each.by)
        size = 0
        while size != len(own):
            size = len(own)
            own |= {name for name, users in by_module.items() if users and users <= own}
        stages = {self._parent(name) for name in own if not name.startswith("products.")}
        return {f"products.{product}", *stages}

    def _parent(self, name: str) -> str:
        return name.rpartition(".")[0] or name

    def names_from_cli(self) -> set[tuple[str, str, str]]:
        """Returns the names that products take from cli, except those of click options."""
        return {
            (self._user(each.by), each.module, each.name)
            for each in self.taken
            if self._folder(each.by) == "products" and self._folder(each.module) == "cli"
            if each.module not in OPTIONS
        }

    def folder_sizes(self) -> dict[str, int]:
        """Returns the number of modules in each folder that is no registry."""
        sizes: dict[str, int] = defaultdict(int)
        for name in self.modules:
            if "." in name and not self._parent(name).endswith(REGISTRIES):
                sizes[self._parent(name)] += 1
        return sizes

    def floors(self) -> dict[str, int]:
        """Returns the longest chain of imports between modules of each folder."""
        inside: dict[str, set[str]] = {name: set() for name in self.modules}
        for each in self.taken:
            if each.by != each.module and self._parent(each.by) == self._parent(each.module):
                inside[each.by].add(each.module)
        floors: dict[str, int] = {}
        most: dict[str, int] = defaultdict(int)
        for group in strongly_connected(inside):  # what a module imports comes in an earlier group
            for name in group:
                below = (floors[other] for other in inside[name] if other in floors)
                floors[name] = 1 + max(below, default=0)
                most[self._parent(name)] = max(most[self._parent(name)], floors[name])
        return most

    def late_share(self) -> float:
        """Returns the share of imports of our modules that are made in functions."""
        ours = [each for each in self.taken if each.when != "never"]
        return sum(each.when == "late" for each in ours) / max(len(ours), 1)

    def style(self) -> tuple[int, int]:
        """Returns the number of docstrings that are fragments, and of participles as names."""
        kinds = [each.kind for path in self.package.rglob("*.py") for each in places(path)]
        return kinds.count(FRAGMENT), kinds.count(PARTICIPLE)

    def figures(self) -> dict[str, str]:
        written = self.written
        lines = [each.lines for each in written]
        products = {name.split(".")[1] for name in self.modules if name.startswith("products.")}
        return {
            "top folders": str(len(self.folders)),
            "folders of products": str(len(products)),
            "Python files": str(len(self.modules)),
            "lines in a file, median": f"{median(lines):.0f}",
            "lines, written by hand": str(sum(lines)),
            "statements": str(sum(each.count(ast.stmt) for each in written)),
            "ternaries per 1000 lines": f"{self.per_1000_lines(ast.IfExp):.1f}",
            "comprehensions per 1000 lines": f"{self.per_1000_lines(*COMPREHENSIONS):.1f}",
            "names used across top folders": str(len(self.names_across_folders())),
            "circles of top folders": str(len(self.circles_of_folders())),
            "circles of imports at start": str(len(self.circles("start"))),
            "circles of imports, all": str(len(self.circles("start", "late", "never"))),
            "climbs in showing a run": str(len(self.climbs())),
            **self.goals(products),
        }

    def goals(self, products: Iterable[str]) -> dict[str, str]:
        """Returns the figures with a goal, each with the place where it is reached."""
        shared = {stage: self.shared_exports(stage) for stage in STAGES}
        shares = {stage: 100 * two // of for stage, (two, of) in shared.items() if of}
        lines = {each.name: each.text_lines for each in self.written}
        fragments, participles = self.style()
        goals = {
            f"% of {stage}'s exports with 2 users": str(share) for stage, share in shares.items()
        }
        places_of = {name: len(self.places(name)) for name in products}
        goals["most places of a product"] = _largest(places_of)
        goals["names that products take from cli"] = str(len(self.names_from_cli()))
        goals["most files in a folder"] = _largest(self.folder_sizes())
        goals["most floors in a folder"] = _largest(self.floors())
        goals["lines of the longest file"] = _largest(lines)
        goals["% of imports in functions"] = f"{100 * self.late_share():.1f}"
        goals["docstrings that are fragments"] = str(fragments)
        goals["participles as names"] = str(participles)
        return goals


def _largest(counts: Mapping[str, int]) -> str:
    """Returns the largest count with its name."""
    name = max(counts, key=lambda each: (counts[each], each), default="")
    return f"{counts[name]} {name}" if name else "0"


def _imports(
    body: Iterable[ast.AST], when: str
) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """All imports below these nodes, and when each is made."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, when
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _imports(node.body, "never")
            yield from _imports(node.orelse, when)
        elif isinstance(node, FUNCTIONS):
            yield from _imports(node.body, "late" if when == "start" else when)
        else:
            yield from _imports(ast.iter_child_nodes(node), when)


def _is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def strongly_connected(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of nodes that reach each other, by Tarjan's algorithm without recursion."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: list[str] = []
    groups: list[list[str]] = []
    for start in graph:
        work = [] if start in order else [(start, iter(sorted(graph[start])))]
        while work:
            node, targets = work[-1]
            if node not in order:
                order[node] = lowest[node] = len(order)
                open_nodes.append(node)
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == order[node]:
                    place = open_nodes.index(node)
                    groups.append(sorted(open_nodes[place:]))
                    del open_nodes[place:]
            elif target not in order:
                work.append((target, iter(sorted(graph[target]))))
            elif target in open_nodes:
                lowest[node] = min(lowest[node], order[target])
    return groups


def table(names: Sequence[str], columns: Sequence[Mapping[str, str]]) -> str:
    """A line for each figure, a column for each checkout."""
    first = max(map(len, columns[0]))
    wide = max(len(word) for words in (names, *(of.values() for of in columns)) for word in words)
    lines = [("", names), *((figure, [of[figure] for of in columns]) for figure in columns[0])]
    return "\n".join(
        f"{figure:<{first}}" + "".join(f"  {word:>{wide}}" for word in words)
        for figure, words in lines
    )


def details(checkout: Checkout) -> Iterator[str]:
    for circle in checkout.circles("start", "late", "never"):
        yield f"circle: {' '.join(circle)}"
    for by, function in sorted(checkout.climbs()):
        yield f"climb: {by} -> {function}"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--at", action="append", type=Path, metavar="PATH", help="a checkout; several may be named"
    )
    parser.add_argument(
        "--details", action="store_true", help="also name each circle and climb of the last one"
    )
    asked = parser.parse_args(words)
    roots = asked.at or [Path(__file__).resolve().parents[1]]
    try:
        checkouts = [Checkout(root) for root in roots]
    except FileNotFoundError as error:
        print(f"structure: {error}", file=sys.stderr)
        return 2
    names = [root.resolve().name for root in roots]
    print(table(names, [each.figures() for each in checkouts]))
    if asked.details:
        print(*details(checkouts[-1]), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
