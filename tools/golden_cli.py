# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs the commands that only show something at two checkouts, and prints where their texts differ.

A change of the structure must leave every byte that is printed as it was. This program makes runs
by the tests of the first checkout, shows them with both, and compares what is printed, what is
written to files, and the exit status:

    git worktree add ../before f12bbda
    python tools/golden_cli.py --at ../before --at .

Help of every command is compared, too, and wrong input. With --kernels so are commands that need
kernels (`list`, `run --dry-run`), which are built where they are not. Nothing is measured.

The exit status is 0 where nothing differs, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mpigauge.site.builds import folders

LONGEST = 40
"""The number of lines printed of a difference, unless with --all."""

MAKE = """
import sys
from pathlib import Path
from mpigauge.cli.main import run
from tests import nights, pages, planted, profiles

folder, root = Path(sys.argv[1]), Path(sys.argv[2])
SIZES = [0, 8, 4096, 1 << 20]
for name, factor in (("slow", 1.0), ("fast", 0.8)):
    def time(size, factor=factor):
        return planted.line()(size) * factor
    cells = planted.curve(time, sizes=SIZES, launches=12)
    cells += planted.curve(time, "Allreduce", SIZES, 12, ranks=4, datatype="float", op="sum")
    planted.store(planted.run(cells, machine=planted.LAPTOP), folder / name)
arms = planted.curve(planted.line(), sizes=SIZES, arm="default")
arms += planted.curve(planted.line(0.7e-6), sizes=SIZES, arm="NAME=fast")
planted.store(planted.run(arms, machine=planted.ROME), folder / "arms")
places = planted.curve(planted.line(), sizes=SIZES, placement="l3")
places += planted.curve(planted.line(2e-6), sizes=SIZES, placement="numa")
planted.store(planted.run(places, machine=planted.ROME), folder / "places")
pages.hostile(folder)
pages.machine(folder)
nights.folder(folder / "nights")
profiles.stored(folder / "profile", profiles.job())
profiles.stored(folder / "profile-3", *(profiles.job(launch) for launch in range(3)))
profiles.stored(folder / "edited", profiles.after_an_edit())
"""
"""Makes the runs in a folder; in a process of its own, with the tests of the first checkout."""

RUNS = ("slow", "arms", "places", "<script>", "machine", "quick.mpigauge", "ref:juno", "osu")
PROFILES = ("profile", "profile-3")
FORMATS = ("table", "markdown", "latex", "imb", "csv", "json", "map", "svg")
PLOTS = (
    *("latency", "bandwidth", "samples", "collectives", "usual", "products", "figures", "memory"),
    *("ratio", "ranks", "map", "caches", "arms", "best", "threads"),
)
PRINTED = ("osu", "hpl", "reprompi", "mpich-MPI1-help-iter", "ompi-MPI4-all-np2", "juno-internode")
MACHINES = ("laptop-i7-8550u-smt.txt", "vm-one-core-cgroup-v1.txt", "epyc-7302-two-sockets.txt")
XML = ("epyc-rome-2s-nps4.xml", "desktop-i9-12900k.xml", "power9-2s-smt4.xml")


def shown() -> Iterator[list[str]]:
    """Commands, as words, in the folder of the runs."""
    for run in RUNS:
        for form in FORMATS:
            yield ["show", run, "--format", form]
        yield ["show", run, "--all"]
        yield ["show", run, "--limits", "machine"]
        for pivot in ("placement", "setting", "ranks"):
            yield ["show", run, "--pivot", pivot]
        yield ["explain", run, "--all"]
        yield ["explain", run, "--format", "json"]
        for form in ("table", "json", "csv"):
            yield ["model", run, "--format", form]
        for by in ("arm", "placement"):
            yield ["best", run, "--by", by]
        yield ["best", run, "--format", "json"]
        yield ["check", run, "--guidelines"]
        yield ["report", run, "-o", "page.html"]
        yield ["export", "csv", run, "-o", "rows.csv"]
        for kind in PLOTS:
            yield ["plot", run, kind]
            yield ["plot", run, kind, "-o", "plot.svg"]
    for profile in PROFILES:
        for form in ("table", "markdown", "latex", "csv", "json", "mpip", "perfcatch", "talp"):
            yield ["show", profile, "--format", form]
        yield ["explain", profile, "--all"]
        yield ["report", profile, "-o", "page.html"]
        yield ["plot", profile, "ranks"]
    yield from _compared()
    yield from _looked_up()
    yield from _wrong()


def _compared() -> Iterator[list[str]]:
    for form in ("table", "json", "csv", "markdown", "latex"):
        yield ["compare", "slow", "fast", "--format", form]
        yield ["compare", "slow", "fast", "places", "--format", form]
        yield ["compare", "profile", "edited", "--format", form]
        yield ["best", "arms", "--format", form]
        yield ["best", "arms", "--pivot", "--format", form]
    for response in ("median", "worst", "best"):
        yield ["compare", "fast", "slow", "--response", response]
    yield ["compare", "slow", "fast", "--rows", "--fail-on", "slower"]
    yield ["compare", "slow", "fast", "places", "--rows"]
    yield ["compare", "arms", "--by", "arm"]
    yield ["compare", "places", "--by", "placement"]
    yield ["compare", "slow", "fast", "--pivot", "run"]
    yield ["compare", "nights/night00", "nights/night15"]
    yield ["check", "slow", "--against", "fast"]
    yield ["check", "fast", "--against", "slow", "--format", "json"]
    yield ["check", "slow", "--against", "limits.toml"]
    yield ["check", "slow", "--against", "limits.toml", "--junit", "junit.xml"]
    yield ["check", "slow", "--against", "limits.toml", "--prometheus", "check.prom"]
    yield ["report", "slow", "fast", "ref:juno", "-o", "page.html"]
    yield ["plot", "slow", "fast", "latency", "-o", "plot.svg"]
    yield ["plot", "slow", "fast", "latency", "-o", "plot.html"]
    yield ["plot", "slow", "fast", "compare"]


def _looked_up() -> Iterator[list[str]]:
    yield ["ls", "nights"]
    yield ["ls", "nights", "--format", "json"]
    yield ["ls", ".", "--where", "cells > 40"]
    yield ["sql", "SELECT run, benchmark, message_bytes, time_s FROM rows ORDER BY ALL", "nights"]
    yield ["sql", "DESCRIBE rows", "nights"]
    for table in ("rows", "cells", "runs", "figures", "call_sites", "ranks"):
        yield ["export", "csv", "nights", "profile", "--table", table]
    yield ["history", "list"]
    for words in ("causes", "checks", "kinds"):
        yield [{"causes": "explain", "checks": "doctor", "kinds": "plot"}[words], "--list"]
    yield ["ref", "list"]
    yield ["ref", "show", "juno"]
    for machine in MACHINES:
        yield ["doctor", "--from", str(Path("machines") / machine)]
    for machine in XML:
        yield ["topo", "--from", str(Path("machines") / machine)]
        yield ["topo", "--from", str(Path("machines") / machine), "--format", "json"]
    for text in PRINTED:
        file = str(Path("printed") / f"{text}.txt")
        yield ["import", file, "--output", f"again-{text}"]
    for shell in ("bash", "zsh", "fish"):
        yield ["completion", shell]


def _wrong() -> Iterator[list[str]]:
    """Input that is refused."""
    yield ["shwo", "slow"]
    yield ["show", "slwo"]
    yield ["show", "slow", "--format", "jsno"]
    yield ["show", "slow", "--pivot", "nothing"]
    yield ["show", "nights/broken"]
    yield ["plot", "slow", "latencies"]
    yield ["plot", "slow", "samples", "-o", "plot.nothing"]
    yield ["explain", "profile", "--format", "xml"]
    yield ["model", "slow", "Nothing"]
    yield ["compare", "slow", "profile"]
    yield ["compare", "slow", "--by", "placment"]
    yield ["best", "slow"]
    yield ["doctor", "--noise", "0", "cpu"]
    yield ["check", "slow", "--against", "nothing.toml"]
    yield ["import", "slow"]
    yield ["import", "limits.toml"]
    yield ["import", "limits.toml", "--as", "osi"]
    yield ["sql", "SELECT nothing FROM rows", "nights"]
    yield ["ref", "show", "nothing"]
    yield ["topo", "--from", "nothing.xml"]
    yield ["run", "PingPong", "--sizes", "8x"]
    yield ["run", "PingPong", "--mpi", "mpcih"]
    yield ["sweep", "plan-that-is-not.toml"]
    yield ["plan", "check", "plan-that-is-not.toml"]


def with_kernels() -> Iterator[list[str]]:
    """Commands that need kernels and an MPI."""
    yield ["list"]
    yield ["list", "--format", "json"]
    yield ["list", "PingPong", "Allreduce", "NBC"]
    yield ["list", "PingPnog"]
    yield ["settings", "--mpi", "mpich"]
    yield ["settings", "--mpi", "openmpi", "eager"]
    yield ["settings", "--mpi", "mpt"]
    yield ["transports", "--mpi", "mpich"]
    yield ["run", "PingPong", "--dry-run"]
    yield ["run", "PingPong", "Allreduce", "--mpi", "openmpi", "--ranks", "2", "--dry-run"]
    yield ["run", "PingPong", "--launcher", "nothing", "--dry-run"]
    yield ["run", "PingPong", "--launcher", "srun", "--dry-run"]
    yield ["run", "PingPong", "--place", "nothing", "--dry-run"]
    yield ["run", "PingPong", "--topo", "2x2", "--dry-run"]
    yield ["run", "PingPong", "--set", "NOTHING_MPICH=1", "--dry-run"]
    yield ["run", "Allreduce", "--op", "bogus", "--dry-run"]
    yield ["run", "Allreduce", "--datatype", "bogus", "--dry-run"]
    yield ["map", "PingPong", "--dry-run"]
    yield ["quick", "--dry-run"]
    yield ["node", "--dry-run"]
    yield ["sweep", "sweep-collectives.toml", "--dry-run"]
    yield ["plan", "show", "sweep-collectives.toml"]
    yield ["plan", "check", "sweep-collectives.toml"]


LIMITS = """
tolerance = "5%"

[[limit]]
benchmark = "PingPong"
sizes = "0,8"
time = "1.5 us"
tolerance = "10%"

[[limit]]
benchmark = "PingPong"
sizes = "4Ki"
time = "0.5 us"
"""


# --- in a process for each checkout --------------------------------------------------------------
def said_here(root: Path, kernels: bool) -> dict[str, Any]:
    """Runs every command; returns exit status, streams and files by the words of the command."""
    commands = [[*words, "--help"] for words in _all_commands()]
    commands += list(shown())
    if kernels:
        commands += list(with_kernels())
    outcomes: dict[str, Any] = {}
    for words in commands:
        outcomes[" ".join(words)] = _one(words, root)
    return outcomes


def _all_commands() -> Iterator[list[str]]:
    """The words of every command and of every one below another."""
    import click

    from mpigauge.cli.main import group

    def below(command: click.Command, words: list[str]) -> Iterator[list[str]]:
        yield words
        if not isinstance(command, click.Group):
            return
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from below(inner, [*words, name])

    return below(group, [])


def _one(words: list[str], root: Path) -> dict[str, Any]:
    from mpigauge.cli.main import run

    before = set(Path().iterdir())
    out, err = _text_stream(), _text_stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status: int | str = run(list(words))
        except BaseException as error:
            status = f"{type(error).__name__}: {error}"
    outcome: dict[str, Any] = {
        "status": status,
        "stdout": _plain(out, root),
        "stderr": _plain(err, root),
    }
    for path in sorted(set(Path().iterdir()) - before):
        if path.is_file():
            outcome[f"file {path}"] = _without_changes(path.read_text("utf-8", "replace"), root)
            path.unlink()
    return outcome


def _text_stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _plain(stream: io.TextIOWrapper, root: Path) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return _without_changes(buffer.getvalue().decode("utf-8", "replace"), root)


def _without_changes(text: str, root: Path) -> str:
    """Replaces what differs between two calls: the checkout's path and version, and the date."""
    import mpigauge

    text = text.replace(mpigauge.__version__, "VERSION").replace(str(root / "src"), "CHECKOUT")
    text = re.sub(r"/[^\s'\"]*/mpigauge-golden-\w+", "FOLDER", text)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    text = re.sub(rf"{today}([T ]\d\d:\d\d(:\d\d)?Z?)?", "TODAY", text)
    return text.replace(today.replace("-", ""), "TODAY")


# --- of both --------------------------------------------------------------------------------------
def compared(before: Mapping[str, Any], after: Mapping[str, Any], longest: int) -> list[str]:
    """The differences, as a person reads them."""
    lines: list[str] = []
    for command in [*before, *(each for each in after if each not in before)]:
        if command not in after:
            lines.append(f"=== only before: {command}")
        elif command not in before:
            lines.append(f"=== only after: {command}")
        elif before[command] != after[command]:
            lines.append(f"=== {command}")
            lines += _differences(before[command], after[command], longest)
    return lines


def _differences(before: Mapping[str, Any], after: Mapping[str, Any], longest: int) -> list[str]:
    lines: list[str] = []
    for part in [*before, *(each for each in after if each not in before)]:
        old, new = str(before.get(part, "")), str(after.get(part, ""))
        if old == new:
            continue
        lines.append(f"--- {part}")
        between = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
        changed = [line for line in between if not line.startswith(("---", "+++", "@@"))]
        lines += [line[:400] for line in changed[:longest]]
        if len(changed) > longest:
            lines.append(f"... and {len(changed) - longest} lines more")
    return lines


def _environment(root: Path, home: Path) -> dict[str, str]:
    """A plain one, in which Python finds the package and the tests of this checkout. All have the
    MPIs of the environment in which this program runs."""
    kept = {"PATH": os.environ["PATH"]}
    return kept | {
        "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "100",
        "MPIGAUGE_HISTORY": str(home / "history"),
        "MPIGAUGE_CACHE": str(folders.cache()),
        "MPIGAUGE_HOME": str(folders.home()),
    }


def said_at(root: Path, made: Path, kernels: bool) -> dict[str, Any]:
    """Runs all commands with a checkout on a copy of these runs, and returns their outcomes."""
    work = made.with_name("work")
    shutil.copytree(made, work)
    result = made.with_name("said.json")
    words = [sys.executable, str(Path(__file__).resolve()), "--inside", str(root), str(result)]
    try:
        subprocess.run(
            [*words, *(["--kernels"] if kernels else [])],
            cwd=work,
            env=_environment(root, made.with_name("home")),
            stdin=subprocess.DEVNULL,
            check=True,
        )
    finally:
        shutil.rmtree(work)
    outcomes: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return outcomes


def make_runs(root: Path, folder: Path) -> None:
    """Makes runs with the tests of this checkout, so that the other reads what it did not write."""
    folder.mkdir()
    environment = _environment(root, folder.with_name("home"))
    words = [sys.executable, "-c", MAKE, str(folder), str(root)]
    subprocess.run(words, check=True, env=environment, cwd=folder)
    shutil.copy(root / "tests" / "data" / "quick.mpigauge", folder)
    (folder / "limits.toml").write_text(LIMITS, encoding="utf-8")
    shutil.copytree(root / "tests" / "golden" / "printed", folder / "printed")
    shutil.copytree(root / "tests" / "machines", folder / "machines")
    shutil.copy(root / "examples" / "sweep-collectives.toml", folder)
    program = "from mpigauge.cli.main import run; import sys; sys.exit(run(sys.argv[1:]))"
    imported = [sys.executable, "-c", program, "import", "printed/osu.txt", "--output", "osu"]
    subprocess.run(imported, check=True, env=environment, cwd=folder, stdout=subprocess.DEVNULL)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--at", action="append", type=Path, metavar="PATH", help="a checkout")
    parser.add_argument("--kernels", action="store_true", help="also what needs kernels")
    parser.add_argument("--all", action="store_true", help="print differences at full length")
    parser.add_argument("--inside", nargs=2, type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        root, result = asked.inside
        result.write_text(json.dumps(said_here(root, asked.kernels)), encoding="utf-8")
        return 0
    if not asked.at or len(asked.at) != 2:
        parser.error("name two checkouts: --at BEFORE --at AFTER")
    before, after = (root.resolve() for root in asked.at)
    with tempfile.TemporaryDirectory(prefix="mpigauge-golden-") as name:
        folder = Path(name)
        (folder / "home").mkdir()
        make_runs(before, folder / "runs")
        outcomes = [said_at(root, folder / "runs", asked.kernels) for root in (before, after)]
    lines = compared(outcomes[0], outcomes[1], 10**9 if asked.all else LONGEST)
    print(*lines, sep="\n")
    different = sum(line.startswith("===") for line in lines)
    print(f"{len(outcomes[1])} commands, {different} of them differ")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
