# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the table of bench/README.md: each program's question, promise and last results.

The question is the first line of a program's docstring, the promise its constant PROMISE; results
are those in bench/results, which bench/record.py stores.

`python tools/bench_page.py` writes, `python tools/bench_page.py --check` only compares.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BENCH, PAGE = ROOT / "bench", "README.md"
BEGIN, END = "<!-- made by tools/bench_page.py -->\n", "<!-- end -->\n"
HEAD = "| program | question | promise | last result |\n|---|---|---|---|\n"


class Program(NamedTuple):
    name: str
    question: str
    promise: str


class Result(NamedTuple):
    """The result of the last run of a command."""

    command: str
    date: str
    commit: str
    machine: str
    verdict: str
    figures: str


def programs(folder: Path) -> list[Program]:
    """The programs with a promise, by name."""
    modules = {path.stem: ast.parse(path.read_text("utf-8")) for path in folder.glob("*.py")}
    return [
        Program(name, (ast.get_docstring(module) or "").partition("\n")[0], promise)
        for name, module in sorted(modules.items())
        if (promise := _promise(module))
    ]


def _promise(module: ast.Module) -> str:
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PROMISE":
            return str(ast.literal_eval(node.value))
    return ""


def results(name: str, folder: Path) -> list[Result]:
    """The stored results of a program, the newest first."""
    path = folder / "results" / f"{name}.json"
    stored = json.loads(path.read_text("utf-8")) if path.exists() else []
    return sorted((Result(**each) for each in stored), key=lambda each: each.date, reverse=True)


def store(name: str, result: Result, folder: Path) -> None:
    """Stores a result in place of the last one of the same command."""
    others = [each for each in results(name, folder) if each.command != result.command]
    path = folder / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    entries = [each._asdict() for each in (result, *others)]
    path.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", "utf-8")


def page(text: str, folder: Path) -> str:
    """The page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    *_, after = rest.partition(END)
    rows = (_row(program, results(program.name, folder)) for program in programs(folder))
    return before + BEGIN + HEAD + "".join(rows) + END + after


def _row(program: Program, last: Sequence[Result]) -> str:
    cells = (
        f"[{program.name}]({program.name}.py)",
        program.question,
        program.promise,
        "<br>".join(map(_shown, last)) or "none stored",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _shown(result: Result) -> str:
    _, _, options = result.command.partition(".py ")
    verdict = result.verdict if result.verdict == "kept" else f"**{result.verdict}**"
    return f"{result.date} {f'`{options}` ' if options else ''}{verdict}: {result.figures}"


def is_current(folder: Path) -> bool:
    text = (folder / PAGE).read_text("utf-8")
    return page(text, folder) == text


def write(folder: Path) -> None:
    """Writes the table into the page of a folder."""
    text = (folder / PAGE).read_text("utf-8")
    (folder / PAGE).write_text(page(text, folder), "utf-8")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare")
    if not parser.parse_args(words).check:
        write(BENCH)
    elif not is_current(BENCH):
        print(f"bench/{PAGE} is out of date; run python tools/bench_page.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
