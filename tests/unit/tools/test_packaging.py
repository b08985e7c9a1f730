# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The recipes of packaging/ say what pyproject.toml says, and call mpigauge as it can be called."""

from __future__ import annotations

import importlib
import json
import platform
import re
import runpy
import shlex
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click
import pytest

from mpigauge.cli import strict
from mpigauge.cli.main import group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "packaging"
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
YAML = ("ci/github.yml", "ci/gitlab.yml", "conda/recipe.yaml")
MODULES = ("modulefiles/mpigauge.lua", "modulefiles/mpigauge.tcl")
HAVE_VERSION = {
    "conda/recipe.yaml": r'version: "(.*)"',
    "debian/changelog": r"\Ampigauge \((.*)-1\)",
    "docker/Dockerfile": r'image\.version="(.*)"',
    "apptainer/mpigauge.def": r"image\.version (.*)",
    "modulefiles/mpigauge.lua": r'whatis\("Version: (.*)"\)',
    "modulefiles/mpigauge.tcl": r'module-whatis "Version: (.*)"',
    "spack/package.py": r'"(\d+\.\d+\.\d+)"',
}
"""Where each says of which version it is; that of EasyBuild by its name, too."""
HAVE_LICENCE = {
    "conda/recipe.yaml": r"license: (.*)",
    "debian/copyright": r"License: (.*)",
    "docker/Dockerfile": r'image\.licenses="(.*)"',
    "apptainer/mpigauge.def": r"image\.licenses (.*)",
    "modulefiles/mpigauge.lua": r'"License: (.*)"\)',
    "modulefiles/mpigauge.tcl": r'"License: (.*)"',
    "spack/package.py": r'license\("(.*)"\)',
}
IN_FRONT = (
    r"(?:&& |- |RUN |ENTRYPOINT |#   |--   |')?(?:[\w/.$-]*/bin/)?"
    r"(?:mpigauge|\$\(BUILT\)|docker run .* mpigauge:\S+|apptainer run mpigauge\.sif)"
)
COMMAND = re.compile(
    rf"^\s*{IN_FRONT} ([a-z-].*)$|for all its users: mpigauge (.*)$|`mpigauge ([^`]*)`"
)
"""A line that begins with the program, however it is called there. Prose begins otherwise."""
CALLING = (
    *(*YAML, *MODULES, "README.md", "apptainer/mpigauge.def", "debian/rules"),
    *("docker/Dockerfile", "spack/package.py"),
)
"""Files that call it."""
NO_MACHINE = "riscv64"
"""For which there is no wheel."""


def text_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return path.relative_to(FOLDER).as_posix()


def yaml_of(name: str) -> Any:
    """PyYAML comes with what makes the documentation."""
    return importlib.import_module("yaml").safe_load(text_of(name))


def version() -> str:
    """Of the newest release in CHANGELOG.md; before the first, the one that it will be."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.search(r"(?m)^## (\d+\.\d+\.\d+)(?:\s|$)", changes)
    later = PROJECT["tool"]["hatch"]["version"]["fallback-version"].partition(".dev")[0]
    return released[1] if released else str(later)


def needed(said: Sequence[str]) -> dict[str, str]:
    """The least version of each, by names as they are on an index."""
    found = (re.match(r"([\w-]+)\s*>=\s*([\d.]+)", each) for each in said)
    return {each[1].lower(): each[2] for each in found if each}


DEPENDENCIES = needed(PROJECT["project"]["dependencies"])
BUILD = needed(PROJECT["build-system"]["requires"])
PYTHON = PROJECT["project"]["requires-python"].removeprefix(">=")
NAME, ENTRY = next(iter(PROJECT["project"]["scripts"].items()))


# --- all of them ----------------------------------------------------------------------------
def test_readme_names_every_file() -> None:
    text = text_of("README.md")
    for path in FILES:
        name = name_of(path).removeprefix("debian/")
        assert path.name == "README.md" or f"`{name}`" in text, name


@pytest.mark.parametrize("name", HAVE_VERSION)
def test_every_version_is_that_of_the_next_upload(name: str) -> None:
    assert set(re.findall(HAVE_VERSION[name], text_of(name))) == {version()}


def test_files_are_named_by_the_same_version() -> None:
    for path in FILES:
        text = f"{path.name}\n{path.read_text(encoding='utf-8')}"
        named = re.findall(r"mpigauge[-/:](\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)", text)
        assert set(named) <= {version()}, path.name


@pytest.mark.parametrize("name", HAVE_LICENCE)
def test_the_licence_is_ours(name: str) -> None:
    said = set(re.findall(rf"(?m){HAVE_LICENCE[name]}$", text_of(name)))
    assert said == {PROJECT["project"]["license"]}


def test_debian_has_the_whole_licence() -> None:
    copied = text_of("debian/copyright").rpartition("License: BSD-3-Clause\n")[2]
    words = " ".join(word for word in copied.split() if word != ".")
    whole = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert words == " ".join(
        whole.partition("Redistribution")[2].join(["Redistribution", ""]).split()
    )


def test_checksums_are_zeros_as_no_file_can_name_its_own() -> None:
    sums = {one for path in FILES for one in re.findall(r"\b[0-9a-f]{64}\b", path.read_text())}
    assert sums == {"0" * 64}


def test_descriptions_are_the_same() -> None:
    about = PROJECT["project"]["description"]
    for name in ("spack/package.py", "easybuild/" + eb().name, "conda/recipe.yaml", *MODULES):
        assert about in text_of(name), name


# --- what they need -------------------------------------------------------------------------
class Directives:
    """What a package of Spack says when it is loaded."""

    def __init__(self) -> None:
        self.said: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def named(self, kind: str) -> Any:
        return lambda *words, **more: self.said.append((kind, words, more))

    def of(self, kind: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(words, more) for each, words, more in self.said if each == kind]


def spack(machine: str, patch: pytest.MonkeyPatch) -> tuple[Directives, Any]:
    """The recipe as it is loaded on such a machine, by a stand-in."""
    found, package = Directives(), ModuleType("spack.package")
    for kind in ("depends_on", "license", "version"):
        setattr(package, kind, found.named(kind))
    for kind in ("EnvironmentModifications", "Executable"):
        setattr(package, kind, object)
    package.join_path = lambda *parts: "/".join(parts)  # type: ignore[attr-defined]
    python = ModuleType("python")
    python.PythonPackage = object  # type: ignore[attr-defined]
    patch.setitem(sys.modules, "spack", ModuleType("spack"))
    patch.setitem(sys.modules, "spack.package", package)
    place = "spack_repo.builtin.build_systems.python"
    for at in range(1, 4):
        above = place.rsplit(".", at)[0]
        patch.setitem(sys.modules, above, ModuleType(above))
    patch.setitem(sys.modules, place, python)
    patch.setattr(platform, "machine", lambda: machine)
    return found, runpy.run_path(str(FOLDER / "spack/package.py"))["Mpigauge"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", NO_MACHINE])
def test_spack_needs_what_we_need_and_no_mpi(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said, package = spack(machine, monkeypatch)
    needs = {words[0].partition("@")[0]: (words[0], more) for words, more in said.of("depends_on")}
    expected = {f"py-{name}": f"py-{name}@{least}:" for name, least in DEPENDENCIES.items()}
    expected["python"] = f"python@{PYTHON}:"
    if machine == NO_MACHINE:
        expected |= {f"py-{name}": f"py-{name}@{least}:" for name, least in BUILD.items()}
        expected |= {"cmake": f"cmake@{least_cmake()}:", "gmake": "gmake"}
    assert {name: spec for name, (spec, _) in needs.items()} == expected
    assert needs["py-tomli"][1]["when"] == "^python@:3.10"
    assert package.sanity_check_is_file == [f"bin/{NAME}"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", NO_MACHINE])
def test_spack_takes_the_wheel_where_there_is_one(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, package = spack(machine, monkeypatch)
    ((words, more),) = said.of("version")
    assert words == (version(),)
    assert package.pypi == f"{NAME}/{NAME}-{version()}.tar.gz"
    if machine == NO_MACHINE:
        assert "url" not in more
    else:
        assert more["url"].endswith(f"/{NAME}-{version()}-py3-none-manylinux_2_17_{machine}.whl")
        assert more["expand"] is False


def least_cmake() -> str:
    found = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", cmake_lists())
    assert found is not None
    return found[1]


def cmake_lists() -> str:
    return (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")


def eb() -> Path:
    return next((FOLDER / "easybuild").iterdir())


def test_easybuild_takes_a_wheel_and_a_python_that_is_new_enough() -> None:
    said = runpy.run_path(str(eb()))
    assert eb().name == f"{NAME}-{version()}.eb"
    assert (said["name"], said["version"]) == (NAME, version())
    needs = dict(said["dependencies"])
    assert numbers(needs["Python"]) >= numbers(PYTHON)
    assert {"Python-bundle-PyPI", "SciPy-bundle"} <= set(needs)
    assert said["sanity_check_paths"]["files"] == [f"bin/{NAME}"]
    (wheel,) = said["sources"]
    (sums,) = said["checksums"]
    for machine in ("x86_64", "aarch64"):
        filled = wheel % {"name": NAME, "version": version(), "arch": machine}
        assert filled in sums
    told = re.findall(r"# (.*)", text_of(f"easybuild/{eb().name}").partition("dependencies")[2])
    assert {word for line in told for word in line.lower().split(", ")} == {
        name for name in DEPENDENCIES if name != "tomli"
    }


def numbers(said: str) -> tuple[int, ...]:
    return tuple(map(int, said.split(".")))


def test_conda_needs_what_we_need() -> None:
    recipe = yaml_of("conda/recipe.yaml")
    assert recipe["context"]["python_min"] == PYTHON
    run = recipe["requirements"]["run"]
    assert needed(run) == {**DEPENDENCIES, "cmake": least_cmake()}
    assert {"__linux", "cxx-compiler", "make", "python >=${{ python_min }}"} <= set(run)
    assert needed(recipe["requirements"]["host"]) == BUILD
    assert recipe["build"]["python"]["entry_points"] == [f"{NAME} = {ENTRY}"]


def test_debian_needs_what_we_need() -> None:
    source, binary = text_of("debian/control").split("\n\n")
    runs = {f"python3-{name}": least for name, least in DEPENDENCIES.items() if name != "tomli"}
    for paragraph, start, more in (
        (source, "Build-Depends:", {f"python3-{n}": least for n, least in BUILD.items()}),
        (binary, "\nDepends:", {"python3": PYTHON, "cmake": least_cmake()}),
    ):
        field = re.split(r"\n(?! )", paragraph.partition(start)[2])[0]
        said = dict(re.findall(r"([\w-]+) \(>= (?:\d+:)?([\d.]+)\)", field))
        assert {**runs, **more}.items() <= said.items()
    module, function = ENTRY.split(":")
    assert f"from {module} import {function}; {function}()" in text_of("debian/rules")


# --- YAML and modules -----------------------------------------------------------------------
@pytest.mark.parametrize("name", YAML)
def test_yaml_can_be_read(name: str) -> None:
    assert isinstance(yaml_of(name), dict)


@pytest.mark.parametrize("name", MODULES)
def test_modules_set_the_paths_below_where_it_is_installed(name: str) -> None:
    code = [line for line in text_of(name).splitlines() if not re.match(r"--|#", line.strip())]
    words = [" ".join(re.findall(r"[\w$./-]+", line)).replace("$root/", "root ") for line in code]
    said = [line.replace("prepend_path", "prepend-path").replace("pathJoin ", "") for line in words]
    assert "prepend-path PATH root bin" in said
    assert "prepend-path MANPATH root share/man" in said
    assert re.search(rf"(?m)root =? ?\"?/apps/mpigauge/{re.escape(version())}\"?$", text_of(name))
    assert any(line.startswith("setenv MPIGAUGE_KERNELS") for line in said)


def test_modules_say_the_same() -> None:
    lua, tcl = (re.findall(r"whatis[ (]\"(.*)\"", text_of(name)) for name in MODULES)
    assert lua == tcl
    assert f"Name: {NAME}" in lua


# --- commands -------------------------------------------------------------------------------
def commands(name: str) -> Iterator[list[str]]:
    """The words after `mpigauge` of each line of a file that calls it."""
    for line in text_of(name).splitlines():
        if found := COMMAND.search(line):
            said = re.split(r" [|&\\]|' *,|'$", next(filter(None, found.groups())))[0]
            yield shlex.split(said)


def understand(words: Sequence[str]) -> None:
    """click.ClickException or UserError: the command line does not know these words."""
    found: click.Command = group
    left = list(words)
    while isinstance(found, click.Group) and left and not left[0].startswith("-"):
        below = found.get_command(click.Context(found), left[0])
        assert below is not None, f"there is no command {left[0]}"
        found, left = below, left[1:]
    strict.check(found, left, click.Context(found))
    with suppress(click.exceptions.Exit):
        inside = found.make_context("mpigauge", list(left)).params
        if found.name == "submit":
            understand(inside["words"])


def test_nights_are_measured_checked_and_shown() -> None:
    nightly = ["submit", "submit", "check", "runs", "report", "explain"]
    for name in ("ci/github.yml", "ci/gitlab.yml"):
        assert [words[0] for words in commands(name)] == ["share", *nightly]


@pytest.mark.parametrize("name", CALLING)
def test_its_command_line_knows_their_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [*commands(name)]
    monkeypatch.chdir(tmp_path)
    for folder in ("acceptance", "results", "$TEXTFILES"):
        (tmp_path / folder).mkdir()
    for words in found:
        understand(words)
    assert found


def test_the_container_starts_a_command() -> None:
    lines = re.findall(r"(?m)^(?:ENTRYPOINT|CMD) (.*)$", text_of("docker/Dockerfile"))
    program, *words = [word for line in lines for word in json.loads(line)]
    assert program == NAME
    understand(words)


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("check RUN --against baseline", True),
        ("check RUN --agianst baseline", False),
        ("submit --nodes 2 run PingPong --sizes 0", True),
        ("submit --nodes 2 run PingPong --sizs 0", False),
    ],
)
def test_words_that_are_wrong_would_be_found(words: str, right: bool) -> None:
    with nullcontext() if right else pytest.raises(click.ClickException):
        understand(words.split())


def test_nights_keep_what_they_write() -> None:
    github = yaml_of("ci/github.yml")["jobs"]["measure"]["steps"]
    (kept,) = [step for step in github if "upload-artifact" in step.get("uses", "")]
    gitlab = yaml_of("ci/gitlab.yml")["acceptance"]["artifacts"]
    assert kept["if"] == "always()"
    assert gitlab["when"] == "always"
    assert gitlab["paths"] == [kept["with"]["path"]] == ["results"]
    for name in ("ci/github.yml", "ci/gitlab.yml"):
        (check,) = [words for words in commands(name) if words[0] == "check"]
        assert "--prometheus" in check
        assert check[check.index("--junit") + 1] == gitlab["reports"]["junit"]
