# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tool that finds fragments and bare participles (tools/english.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loaded_tools import load_tool

english = load_tool("english")
PHRASE = "phrase"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setattr(english, "ROOT", tmp_path)
    return Places(tmp_path / "code.py")


class Places:
    """The places of a file with one text."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, text: str) -> list[tuple[int, str, str]]:
        self._file.write_text(text)
        return [(each.line, each.kind, each.words) for each in english.places(self._file)]


@pytest.mark.parametrize("word", sorted(english.FRAGMENTS))
def test_a_docstring_that_continues_another_is_a_fragment(places: Places, word: str) -> None:
    assert places.of(f'"""{word} a run."""\n') == [(1, "fragment", f"{word} a run.")]


def test_docstrings_of_functions_classes_and_members_are_read(places: Places) -> None:
    text = 'class A:\n    """By rank."""\n    b: int\n    """Of a row."""\n'
    text += '    def c(self):\n        """What it takes."""\n'
    assert [line for line, *_ in places.of(text)] == [2, 4, 6]


def test_a_docstring_that_ends_another_is_a_fragment(places: Places) -> None:
    assert [kind for _, kind, _ in places.of('A = 1\n"""...of so many."""\n')] == ["fragment"]


def test_whole_sentences_and_other_strings_are_left_alone(places: Places) -> None:
    assert places.of('"""Offers rows of one run."""\nA = "Of rows"\nprint("By rank")\n') == []


@pytest.mark.parametrize(
    "text",
    ["found = 1", "for found in a: pass", "def f(found): pass", "def found(): pass", "a.found = 1",
     "[found for found in a]", "with a as found: pass", "class A:\n    found: int"],
)  # fmt: skip
def test_a_bare_participle_is_found_wherever_it_is_bound(places: Places, text: str) -> None:
    assert [(kind, name) for _, kind, name in places.of(text)] == [("participle", "found")]


def test_names_that_only_contain_one_are_left_alone(places: Places) -> None:
    assert places.of("found_rows = 1\nunknown = 2\nprint(found)\n") == []


def test_a_question_is_a_sentence(places: Places) -> None:
    assert places.of('"""How long does a run take? Less."""\n') == []
    assert len(places.of('"""How long a run takes. Why?"""\n')) == 1


def test_generated_files_are_not_read(places: Places) -> None:
    assert places.of(f'# {english.GENERATED}\n"""Of a row."""\nfound = 1\n') == []


def test_python_that_is_generated_of_options_has_words_of_its_own(places: Places) -> None:
    text = f'{english.OWN_WORDS}: change that file.\n"""Of a row."""\n'
    assert [kind for _, kind, _ in places.of(text)] == [english.FRAGMENT]


def test_more_places_than_are_allowed_fail(
    places: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    places.of("found = 1\nsaid = 2\n")
    monkeypatch.setattr(english, "FOLDERS", (".",))
    monkeypatch.setattr(english, "MOST", {english.FRAGMENT: 0, english.PARTICIPLE: 2})
    assert english.main([]) == 0
    assert capsys.readouterr().out == "0 fragments of at most 0, 2 participles of at most 2\n"
    monkeypatch.setitem(english.MOST, english.PARTICIPLE, 1)
    assert english.main([]) == 1
    assert "code.py:2: participle: said" in capsys.readouterr().out


# --- pages, help and messages ---------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "What was disturbed says so.",
        "It needs Debian (or alike).",
        "`mpigauge --help` tells the rest.",
        "Below six launches the range, and the word.",
        "A machine that is not idle is no excuse.",
        "A pair for each way in which two can sit to each other here.",
        "The same command goes on where it was.",
        "Nobody has said what a program sends; nobody knows.",
        "It stays where it is faster with certainty.",
        "./ring takes mpich 5.0.2 by itself",
        "no frequency governor is told",
        "MPIs that cannot be had here",
        "Inside, for who changes it.",
        "This is what spoils times on this machine.",
        "The dearest comes first; it is so in all likelihood.",
        "Ask all runs in a folder something, in the SQL of DuckDB.",
        "Who pays for it.",
        "Files are of unlike things.",
        "3 needs a new start of the machine",
        "pages can only be got",
        "It knows no setting, which it is told all the same.",
        "the true value 95 times of 100",
        "Below them stands a sentence.",
    ],
)
def test_a_phrase_is_found(text: str) -> None:
    assert "phrase" in {place.kind for place in english.of_page(Path("docs/a.md"), text)}


def test_code_and_addresses_of_pages_are_no_sentences() -> None:
    text = "# A\n\n    says so\n\n```\nsays so\n```\n<!-- says so -->\n"
    text += "It is `says so`, [a](says so).\n"
    assert list(english.of_page(Path("docs/a.md"), text)) == []


def test_a_sentence_of_thirty_words_is_too_long() -> None:
    for words, kinds in ((29, []), (30, ["long sentence"])):
        text = "- " + " ".join(["word"] * words) + ".\n- Short.\n"
        assert [place.kind for place in english.of_page(Path("docs/a.md"), text)] == kinds


def test_sentences_of_two_items_or_lines_of_a_table_are_not_joined() -> None:
    item = " ".join(["word"] * 20)
    text = f"# {item}\n{item}.\n- {item}\n- {item}\n\n| {item} |\n| {item} |\n1. {item}\n"
    assert list(english.of_page(Path("docs/a.md"), text)) == []


def test_messages_are_read_and_docstrings_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(english, "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    file = tmp_path / "src/code.py"
    help_text = '@click.command("a")\ndef a():\n    """Say what it is."""\n'
    file.write_text('"""It says so."""\nprint("the run says so")\n' + help_text)
    assert {(each.line, each.kind) for each in english.places(file)} == {(2, PHRASE), (5, PHRASE)}
