# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`make release`: what may not be uploaded, links of README on a package index, the same bytes."""

from __future__ import annotations

import io
import sys
import tarfile
from email.message import Message
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest

from tools import release, wheel_readme

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SOURCE = "https://example.org/mpigauge/"
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## 1.2.3 (2026-12-01)\n\n## 1.2.30\n"


@pytest.mark.parametrize(
    ("tag", "problem"),
    [
        ("v1.2.3", ""),
        ("v1.2.30", ""),
        ("", "this commit has no tag"),
        ("1.2.3", "the tag 1.2.3 names no release"),
        ("v1.2.3.dev4+gabc", "names no release"),
        ("v1.2", "names no release"),
        ("v1.2.3rc1", "CHANGELOG.md has no section '## 1.2.3rc1'"),
        ("v1.2.4", "CHANGELOG.md has no section '## 1.2.4'"),
    ],
)
def test_a_tag_names_a_version_that_the_changelog_knows(tag: str, problem: str) -> None:
    found = "; ".join(release.wrong_version(tag, CHANGELOG))
    assert problem in found
    assert bool(problem) == bool(found)


@pytest.mark.parametrize(
    ("written", "led"),
    [
        ("[how](docs/a.md#b)", "[how](https://example.org/mpigauge/blob/v1.0.0/docs/a.md#b)"),
        ("![x, y](a.svg)", "![x, y](https://example.org/mpigauge/raw/v1.0.0/a.svg)"),
        ("[there](https://a.b/c)", "[there](https://a.b/c)"),
        ("[here](#begin)", "[here](#begin)"),
        ("[write](mailto:a@b.c)", "[write](mailto:a@b.c)"),
    ],
)
def test_links_lead_to_the_sources_of_the_version(written: str, led: str) -> None:
    assert wheel_readme.absolute(f"See {written}.", SOURCE, "v1.0.0") == f"See {led}."


def test_all_links_of_readme_are_led_somewhere(repository: Path) -> None:
    text = (repository / "README.md").read_text()
    assert len(wheel_readme.relative_links(text)) > 20
    led = wheel_readme.absolute(text, SOURCE, "v1.0.0")
    assert wheel_readme.relative_links(led) == []
    assert f"({SOURCE}blob/v1.0.0/ARCHITECTURE.md)" in led
    assert led.count("\n") == text.count("\n")


def test_the_oldest_python_is_the_same_everywhere(repository: Path) -> None:
    """In the metadata, for the linter and for the type checker; which also looks at 3.12."""
    said = tomllib.loads((repository / "pyproject.toml").read_text())
    assert said["project"]["requires-python"] == ">=3.10"
    classified = [each for each in said["project"]["classifiers"] if ":: Python :: 3." in each]
    assert [each.rpartition(" ")[2] for each in classified] == ["3.10", "3.11", "3.12", "3.13"]
    assert said["tool"]["ruff"]["target-version"] == "py310"
    assert said["tool"]["mypy"]["python_version"] == "3.10"
    assert "--python-version 3.12 src" in (repository / "Makefile").read_text()


def described(version: str, text: str) -> Message:
    said = Message()
    said["Version"] = version
    said.set_payload(text)
    return said


def test_metadata_that_may_not_be_uploaded() -> None:
    good = described("1.0.0", f"[a]({SOURCE})")
    assert list(release.wrong_metadata("a.whl", good, "1.0.0")) == []
    local = described("1.0.0+gabc", "[a](docs/a.md) ![b](b.svg)")
    assert list(release.wrong_metadata("a.whl", local, "1.0.0")) == [
        "a.whl says that it is version 1.0.0+gabc",
        "a.whl: 2 links of its description lead nowhere, the first is docs/a.md",
    ]


def wheel(folder: Path, machine: str, version: str, more: str = "", year: int = 2020) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"mpigauge-{version}-py3-none-manylinux_2_17_{machine}.whl"
    with ZipFile(path, "w") as archive:
        for name, text in (
            ("mpigauge/a.so", f"code{more}"),
            (f"mpigauge-{version}.dist-info/METADATA", f"Version: {version}\n\nText\n"),
        ):
            archive.writestr(ZipInfo(name, (year, 2, 2, 0, 0, 0)), text)
    return path


def test_a_release_has_the_sources_and_a_wheel_for_each_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "twine_says", lambda _: iter(()))
    wheel(tmp_path, "x86_64", "1.0.0")
    wheel(tmp_path, "aarch64", "1.0.0.dev1")
    assert list(release.wrong_files(tmp_path, "1.0.0")) == [
        f"{tmp_path} has no sources mpigauge-1.0.0.tar.gz",
        f"{tmp_path} has 0 wheels of 1.0.0 for aarch64, not one",
    ]
    wheel(tmp_path, "aarch64", "1.0.0")
    with tarfile.open(tmp_path / "mpigauge-1.0.0.tar.gz", "w:gz") as packed:
        text = b"Version: 1.0.0\n\nText\n"
        entry = tarfile.TarInfo("mpigauge-1.0.0/PKG-INFO")
        entry.size = len(text)
        packed.addfile(entry, io.BytesIO(text))
    assert list(release.wrong_files(tmp_path, "1.0.0")) == []
    assert len(release.files_of(tmp_path, "1.0.0")) == 3


def test_two_builds_that_differ_are_told_by_file(tmp_path: Path) -> None:
    one = wheel(tmp_path / "one", "x86_64", "1.0.0")
    assert list(release.differences(one, wheel(tmp_path / "same", "x86_64", "1.0.0"))) == []
    other = wheel(tmp_path / "other", "x86_64", "1.0.0", more="!")
    assert list(release.differences(one, other)) == ["mpigauge/a.so differs between two builds"]
    later = wheel(tmp_path / "later", "x86_64", "1.0.0", year=2021)
    (said,) = release.differences(one, later)
    assert said.endswith("the same files, packed in two ways")
