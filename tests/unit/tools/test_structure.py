# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What tools/structure.py counts, and what it has to count in this tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.loaded_tools import load_tool

ROOT = Path(__file__).resolve().parents[3]
MOST_FOLDERS = 12


structure = load_tool("structure")
FILES = {
    "__init__.py": "",
    "model/__init__.py": "",
    "model/row.py": "class Row: ...\n",
    "model/columns.py": "# Made by tools/generate.py\nA = 1\nB = 2\n",
    "result/__init__.py": "from mpigauge.result.rows import rows\n",
    "result/rows.py": """
        from mpigauge.model.row import Row

        def rows(): return [Row() for _ in range(3)] if Row else []

        def later():
            from mpigauge.result import other
        """,
    "result/other.py": """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from mpigauge.result.rows import rows
        """,
    "show/__init__.py": "",
    "show/table.py": """
        import json
        from typing import TYPE_CHECKING

        from mpigauge.result import rows
        from mpigauge.show import words

        if TYPE_CHECKING:
            from mpigauge.model.row import Row
        """,
    "show/words.py": "from mpigauge.model.row import Row\n",
    "products/__init__.py": "",
    "products/map/__init__.py": "",
    "products/map/show.py": "from mpigauge.result.rows import later\n",
}


@pytest.fixture
def small(tmp_path: Path) -> Any:
    """A checkout of which all that is counted can be seen."""
    for name, text in FILES.items():
        path = tmp_path / "src/mpigauge" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [line.removeprefix(" " * 8) for line in text.strip("\n").splitlines()]
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return structure.Checkout(tmp_path)


@pytest.fixture(scope="module")
def ours() -> Any:
    return structure.Checkout(ROOT)


# --- a small checkout -----------------------------------------------------------------------
def test_folders_are_those_with_modules_in_them(small: Any) -> None:
    assert small.folders == ["model", "products", "result", "show"]
    assert small.figures()["top folders"] == "4"
    assert small.figures()["folders of products"] == "1"


def test_names_of_other_folders_are_counted_once_each_and_modules_are_not(small: Any) -> None:
    assert small.names_across_folders() == {
        ("model.row", "Row"), ("result", "rows"), ("result.rows", "later"),
    }  # fmt: skip


def test_circles_are_told_by_when_their_imports_are_made(small: Any) -> None:
    assert small.circles("start") == []
    assert small.circles("start", "late", "never") == [["result.other", "result.rows"]]
    assert small.circles_of_folders() == []


def test_a_function_that_showing_takes_from_before_it_is_a_climb(small: Any) -> None:
    assert small.climbs() == {
        ("show.table", "result.rows"), ("products.map.show", "result.rows.later"),
    }  # fmt: skip


def test_density_is_of_lines_that_somebody_wrote(small: Any) -> None:
    lines = sum(
        sum(bool(line.strip()) for line in text.splitlines())
        for name, text in FILES.items()
        if name != "model/columns.py"
    )
    assert small.per_1000_lines(structure.ast.IfExp) == pytest.approx(1000 / lines)
    assert small.per_1000_lines(*structure.COMPREHENSIONS) == pytest.approx(1000 / lines)


def test_nodes_that_reach_each_other_are_one_group() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set(), "f": {"f", "e"}}
    found = structure.strongly_connected(graph)
    assert sorted(found) == [["a", "b", "c"], ["d"], ["e"], ["f"]]


def test_exports_of_a_stage_are_counted_by_their_users(small: Any) -> None:
    assert small.shared_exports("result") == (0, 2)
    (small.package / "show/more.py").write_text("from mpigauge.result import rows\n")
    more = structure.Checkout(small.package.parents[1])
    assert more.shared_exports("result") == (1, 2)


def test_a_product_lies_where_modules_serve_it_alone(small: Any) -> None:
    (small.package / "result/own.py").write_text("def only(): ...\n")
    (small.package / "products/map/plan.py").write_text("from mpigauge.result.own import only\n")
    assert structure.Checkout(small.package.parents[1]).places("map") == {"products.map", "result"}
    assert small.places("map") == {"products.map"}


def test_files_and_floors_are_those_of_a_folder(small: Any) -> None:
    assert small.folder_sizes()["show"] == 2
    assert small.floors()["show"] == 2
    assert small.folder_sizes()["result"] == 2


def test_imports_in_functions_are_a_share_of_all_at_run_time(small: Any) -> None:
    assert small.late_share() == pytest.approx(1 / 7)


def test_products_take_names_from_cli_other_than_options(small: Any) -> None:
    (small.package / "cli").mkdir()
    for name in ("__init__", "options", "screen"):
        (small.package / "cli" / f"{name}.py").write_text("def tell(): ...\n")
    (small.package / "products/map/command.py").write_text(
        "from mpigauge.cli.options import tell\nfrom mpigauge.cli.screen import tell\n"
    )
    own = structure.Checkout(small.package.parents[1])
    assert own.names_from_cli() == {("products.map", "cli.screen", "tell")}


# --- the program ----------------------------------------------------------------------------
def test_checkouts_stand_beside_each_other(
    small: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del small
    assert structure.main(["--at", str(tmp_path), "--at", str(tmp_path), "--details"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == [tmp_path.name] * 2
    assert "top folders" in out
    assert "circle: result.other result.rows" in out
    assert "climb: products.map.show -> result.rows.later" in out


def test_what_is_no_checkout_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert structure.main(["--at", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"structure: {tmp_path} is not a checkout of mpigauge: it has no src/mpigauge\n"
    )


# --- this tree ------------------------------------------------------------------------------
def test_no_module_of_ours_is_in_a_circle_of_imports(ours: Any) -> None:
    assert ours.circles("start", "late", "never") == []
    assert ours.circles_of_folders() == []


def test_the_top_folders_can_be_seen_at_a_glance(ours: Any) -> None:
    assert len(ours.folders) <= MOST_FOLDERS
