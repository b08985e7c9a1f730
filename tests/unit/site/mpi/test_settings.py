# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings of an MPI: control variables, info programs, our catalogue, and the search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.model.knob import Knob
from mpigauge.model.mpi import Abi
from mpigauge.products.settings.show import page, rows
from mpigauge.site.mpi.settings import by_name, catalogue, search
from mpigauge.site.mpi.settings.control import Variable, variable, variables
from mpigauge.site.mpi.settings.known import BELOW, from_control, knobs, with_catalogue
from mpigauge.site.mpi.settings.readers import read_fi_env, read_impi_info, read_ucx_config
from tests import mpi_fakes as fake
from tests.unit.site.mpi.test_transports import mpi

# Two variables: an enumeration, and a text that cannot be read.
MPI_T = """
#include <cstdlib>
{data}
typedef {handle} Kind;
extern "C" {{
int MPI_T_init_thread(int, int* provided) {{ *provided = 0; return {failure}; }}
int MPI_T_cvar_get_num(int* count) {{ *count = 3; return 0; }}
int MPI_T_cvar_get_info(int index, char* name, int* length, int* verbosity, Kind* kind,
                        void** kinds, char* about, int*, int* bind, int* scope) {{
  if (index == 2) return 57;
  std::strcpy(name, index == 0 ? "x_algorithm" : "x_file");
  std::strcpy(about, index == 0 ? "Which\\n  algorithm." : "A file \\xe9.");
  *length = 12; *bind = 0; *verbosity = {verbosity}; *scope = {scope};
  *kind = index == 0 ? (Kind){integer} : (Kind){text};
  *kinds = index == 0 ? (void*)1 : nullptr;
  return 0;
}}
int MPI_T_enum_get_info(void*, int* count, char* name, int*) {{ *count = 2; *name = 0; return 0; }}
int MPI_T_enum_get_item(void*, int item, int* value, char* name, int*) {{
  *value = 10 * item; std::strcpy(name, item ? "ring" : "linear"); return 0;
}}
int MPI_T_cvar_handle_alloc(int index, void*, void** handle, int* count) {{
  *handle = (void*)(long)(index + 1); *count = 1; return index == 1 ? 57 : 0;
}}
int MPI_T_cvar_read(void*, void* value) {{
  *(int*)value = std::getenv("OMPI_MCA_x_algorithm") ? 0 : 10; return 0;
}}
int MPI_T_cvar_handle_free(void**) {{ return 0; }}
}}
"""
MPICH = {
    "data": "", "handle": "int", "integer": "0x4c000405", "text": "0x4c000101",
    "verbosity": "224", "scope": "60444", "failure": "0",
}  # fmt: skip
OMPI = {
    "data": 'extern "C" { int ompi_mpi_comm_world, ompi_mpi_int, ompi_mpi_char; }',
    "handle": "void*", "integer": "&ompi_mpi_int", "text": "&ompi_mpi_char",
    "verbosity": "8", "scope": "1", "failure": "0",
}  # fmt: skip


def library(path: Path, words: dict[str, str]) -> Path:
    return fake.library(path / "libmpi.so", more=MPI_T.format(**words))


# --- control variables ------------------------------------------------------------------------
def test_control_variables_of_mpich(tmp_path: Path) -> None:
    of = replace(mpi("mpich"), library=library(tmp_path, MPICH))
    values = ("linear", "ring")
    assert variables(of) == (
        Variable("x_algorithm", "Which algorithm.", "int", "ring", values, "all_eq", "tuner", 10),
        Variable("x_file", "A file \ufffd.", "string", None, (), "all_eq", "tuner"),
    )


def test_control_variables_of_open_mpi_as_nobody_has_set_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_MCA_x_algorithm", "linear")
    of = replace(mpi("openmpi"), library=library(tmp_path, OMPI))
    first, second = variables(of)
    assert (first.value, first.scope, first.level) == ("ring", "readonly", "developer")
    assert second.kind == "string"


def test_a_library_without_control_variables(tmp_path: Path) -> None:
    of = replace(mpi("mpich"), library=library(tmp_path, {**MPICH, "failure": "1"}))
    with pytest.raises(UserError, match="does not work: MPI_T_init_thread fails"):
        variables(of)
    of = replace(mpi("mpich"), library=fake.library(tmp_path / "old.so"))
    with pytest.raises(UserError, match=r"undefined symbol: MPI_T_init_thread"):
        variables(of)


@pytest.mark.parametrize(
    ("abi", "scope", "verbosity"),
    [("mpich", 60441, 222), ("ompi", 3, 1), ("std", 4, 0x0A)],
)
def test_every_abi_has_numbers_of_its_own(abi: Abi, scope: int, verbosity: int) -> None:
    said = {
        "name": "n", "about": "", "kind": "double", "scope": scope, "verbosity": verbosity,
        "choices": [], "value": 0.5,
    }  # fmt: skip
    found = variable(said, abi)
    assert (found.scope, found.level, found.value) == ("group", "user", "0.5")
    strange = variable({**said, "scope": -7, "verbosity": 1 << 20, "value": True}, abi)
    assert (strange.scope, strange.level, strange.value) == ("", "", "true")


def test_values_that_mpich_has_only_in_its_words() -> None:
    about = "Variable to select\n    auto - as it likes\n    nb   - no barrier\n  text - more\n"
    said = {
        "name": "n", "about": about, "kind": "int", "scope": 0, "verbosity": 0, "choices": [],
        "value": 0,
    }  # fmt: skip
    assert variable(said, "mpich").choices == ("auto", "nb", "text")
    assert variable({**said, "about": "one - of them"}, "mpich").choices == ()


@pytest.mark.parametrize(
    ("name", "control", "environment", "scope", "read"),
    [
        ("openmpi", "btl_sm_eager_limit", "OMPI_MCA_btl_sm_eager_limit", "readonly", "start"),
        ("openmpi", "coll_x", "OMPI_MCA_coll_x", "all", "running"),
        ("openmpi", "built", "OMPI_MCA_built", "constant", "never"),
        ("mpich", "MPIR_CVAR_X", "MPIR_CVAR_X", "all_eq", ""),
        ("intel", "MPIR_CVAR_INTEL_FABRICS", "I_MPI_FABRICS", "local", ""),
        ("intel", "MPIR_CVAR_USE_ALLREDUCE", "", "local", ""),
    ],
)
def test_how_a_control_variable_is_set(
    name: str, control: str, environment: str, scope: str, read: str
) -> None:
    given = Variable(control, "", "int", "1", (), scope, "user")  # type: ignore[arg-type]
    knob = from_control(given, mpi(name))
    assert (knob.variable, knob.read, knob.control) == (environment, read, control)
    assert knob.name == (environment or control)


# --- info programs ------------------------------------------------------------------------------
IMPI_ALL = """I_MPI_FABRICS \n  MPI Datatype:\n    MPI_CHAR\n  Description:\n    Which
    fabrics. \nI_MPI_WAIT\n  MPI Datatype:\n    MPI_INT\nsome other line\n"""
IMPI_TABLE = """ | NAME          | DEFAULT VALUE  | DATA TYPE   |
 =================================================
 | I_MPI_FABRICS | shm:ofi        | MPI_CHAR    |
 | I_MPI_PIN     | on             | MPI_INT     |
 | I_MPI_PERHOST | not defined    | MPI_CHAR    |
"""


def test_intel_mpi_tells_in_two_tables() -> None:
    found = {knob.variable: knob for knob in read_impi_info(IMPI_ALL, IMPI_TABLE)}
    assert set(found) == {"I_MPI_FABRICS", "I_MPI_WAIT", "I_MPI_PIN", "I_MPI_PERHOST"}
    fabrics = found["I_MPI_FABRICS"]
    assert (fabrics.kind, fabrics.default) == ("string", "shm:ofi")
    assert fabrics.about == "Which fabrics."
    assert (found["I_MPI_WAIT"].kind, found["I_MPI_WAIT"].default) == ("int", None)
    assert found["I_MPI_PERHOST"].default is None
    assert read_impi_info("", "") == ()


UCX_CONFIG = """# UCX library configuration file

#
# Which devices
# to take.
#
# syntax:    list of: string
#
UCX_NET_DEVICES=all

#
# More.
#
UCX_IB_GID=
"""


def test_ucx_tells_its_configuration() -> None:
    first, second = read_ucx_config(UCX_CONFIG)
    assert (first.variable, first.default, first.kind) == (
        "UCX_NET_DEVICES",
        "all",
        "list of: string",
    )
    assert (first.about, first.of, first.read) == ("Which devices to take.", "ucx", "start")
    assert (second.variable, second.default) == ("UCX_IB_GID", "")


def test_libfabric_tells_its_environment() -> None:
    text = (
        "# FI_TCP_IFACE: String\n# tcp: an interface\n\n"
        "# FI_X: Boolean (0/1, on/off)\n# On or off (default: no)\n\n# other words\n"
    )
    first, second = read_fi_env(text)
    assert (first.variable, first.kind, first.default) == ("FI_TCP_IFACE", "string", None)
    assert (second.kind, second.default, second.about) == ("bool", "no", "On or off (default: no)")


# --- the catalogue --------------------------------------------------------------------------------
def test_the_catalogue_is_in_order() -> None:
    found = catalogue.entries()
    assert len({(entry.of, entry.variable) for entry in found}) == len(found) > 60
    for entry in found:
        assert entry.meaning.endswith("."), entry
        assert entry.legal
        assert not entry.legal.endswith("."), entry
        assert entry.since < entry.before


def test_a_word_in_the_catalogue_that_means_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "catalogue.toml"
    monkeypatch.setattr(catalogue, "FILE", file)
    words = 'of = "mpich"\nvariable = "X"\nmeaning = "x."\nlegal = "x"\n'
    for more, message in (
        ("moves = 'luck'", "unknown break 'luck'"),
        ("raed = 'call'", "unknown word"),
        ("read = 'now'", "unknown time 'now'"),
    ):
        file.write_text(f"[[knob]]\n{words}{more}\n")
        with pytest.raises(ValueError, match=message):
            catalogue.entries.__wrapped__()


def test_versions_decide_which_entries_count() -> None:
    def explained(version: str, variable: str) -> str:
        own = [Knob(variable=variable)]
        return next(with_catalogue(own, mpi("openmpi", version), ())).meaning

    assert explained("4.1.8", "OMPI_MCA_btl_vader_eager_limit")
    assert not explained("5.0.2", "OMPI_MCA_btl_vader_eager_limit")
    assert explained("5.0.2", "OMPI_MCA_btl_sm_eager_limit")
    assert explained("main", "OMPI_MCA_btl_sm_eager_limit")


def test_a_whole_name_counts_more_than_a_star() -> None:
    own = [
        Knob(variable="OMPI_MCA_coll_tuned_allreduce_algorithm", read="running"),
        Knob(variable="OMPI_MCA_pml", default=""),
        Knob(variable="OMPI_MCA_other", read="never"),
    ]
    tuned, pml, other, *below = with_catalogue(own, mpi("openmpi", "5.0"), ("ucx",))
    assert (tuned.read, tuned.family) == ("communicator", "OMPI_MCA_coll_tuned_*_algorithm")
    assert (pml.read, pml.family, pml.legal) == ("start", "", "ob1, ucx, cm; ^ucx excludes one")
    assert (other.read, other.meaning) == ("never", "")
    assert {knob.of for knob in below} == {"ucx"}
    assert [knob.variable for knob in below][:2] == ["UCX_NET_DEVICES", "UCX_TLS"]


def test_what_is_told_below_the_mpi_is_not_told_twice() -> None:
    own = [Knob(variable="UCX_TLS", default="all", of="ucx")]
    found = list(with_catalogue(own, mpi("openmpi", "5.0"), ("ucx",)))
    (tls,) = [knob for knob in found if knob.variable == "UCX_TLS"]
    assert tls.default == "all"
    assert tls.meaning


def test_an_mpi_that_we_know_nothing_of_has_its_control_variables(tmp_path: Path) -> None:
    of = replace(mpi("cray-mpich"), library=library(tmp_path, MPICH))
    assert [knob.name for knob in knobs(of)] == ["x_algorithm", "x_file"]


# --- search and pages -----------------------------------------------------------------------------
SOME = (
    Knob(variable="OMPI_MCA_btl", control="btl", about="Which BTLs", meaning="The BTLs."),
    Knob(variable="OMPI_MCA_btl_tcp_links", control="btl_tcp_links", about="Number of links"),
    Knob(variable="OMPI_MCA_pml", control="pml", about="Who carries messages"),
)


@pytest.mark.parametrize(
    ("word", "count"), [("btl", 1), ("BTL_", 1), ("_btl", 2), ("messages", 1), ("OMPI_MCA_pml", 1)]
)
def test_search_takes_whole_names_then_parts_then_words(word: str, count: int) -> None:
    assert len(search(SOME, word)) == count


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("OMPI_MCA_plm", "did you mean 'OMPI_MCA_pml'"),
        ("tcp_lniks", "'tcp_links'"),
        ("zzzz", "description$"),
    ],
)
def test_a_search_without_an_answer(word: str, hint: str) -> None:
    with pytest.raises(UserError, match=f"no setting has '{word}' in its name or .*{hint}"):
        search(SOME, word)


def test_a_page_says_what_is_known_and_nothing_else() -> None:
    knob = Knob(
        variable="OMPI_MCA_x", control="x", kind="int", default="", choices=("a", "b"),
        read="start", level="tuner", about="Its words.", meaning="Ours.", legal="a or b",
    )  # fmt: skip
    assert list(page(knob, {"OMPI_MCA_x": "b"}, 60)) == [
        "OMPI_MCA_x",
        "  meaning    Ours.",
        "  values     a or b",
        "  declared   a, b",
        "  default    empty",
        "  here       b",
        "  type       int",
        "  read       when MPI starts",
        "  set it     --set OMPI_MCA_x=VALUE",
        "  control    x",
        "  for        tuners",
        "  its words  Its words.",
    ]
    assert list(page(Knob(variable="", control="y"), {}, 60)) == [
        "y",
        "  default    unknown",
        "  read       unknown",
        "  set it     no variable is known",
        "  control    y",
    ]


def test_families_share_a_row() -> None:
    shared = {"family": "X_*_Y", "meaning": "Ours.", "read": "call"}
    found = [
        Knob(variable="X_A_Y", default="1", **shared),  # type: ignore[arg-type]
        Knob(variable="X_B_Y", default="2", **shared),  # type: ignore[arg-type]
        Knob(variable="Z", default="a" * 30, about="First. Second."),
    ]
    assert rows(found) == [
        ["X_*_Y", "differs", "call", "Ours. (2 of them)"],
        ["Z", "a" * 23 + "…", "?", "First."],
    ]


# --- breaks, and MPIs that cannot be had here -----------------------------------------------------
def test_settings_that_move_breaks_are_there_for_every_mpi() -> None:
    for of in ("openmpi", "mpich", "intel"):
        moved = {entry.moves for entry in catalogue.entries() if entry.of in (of, *BELOW[of])}
        assert moved >= set(catalogue.MOVES), of
    assert all(not e.usual or e.moves for e in catalogue.entries())
    assert {entry.within for entry in catalogue.entries()} == {"", "node", "network"}


def test_what_is_known_by_name_only_says_so() -> None:
    (knob,) = search(SOME, "mpi_buffer_max", by_name())
    assert (knob.of, knob.tested) == ("SGI MPT", False)
    assert "  tested     no: known by name only, no MPI here has it" in page(knob, {}, 80)
    assert len(by_name("mpt")) == len(by_name()) > 70
    assert by_name("mpich") == ()


def test_the_settings_of_the_mpi_come_before_those_of_others() -> None:
    others = (Knob(variable="X_btl_tcp_links"), Knob(variable="Y_pml"))
    assert [knob.variable for knob in search(SOME, "tcp_links", others)] == [
        "OMPI_MCA_btl_tcp_links"
    ]
    assert search(SOME, "y_pml", others) == (others[1],)


def test_settings_of_an_mpi_by_name_need_no_mpi(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["settings", "--mpi", "mpt", "shared_neighborhood"]) == 0
    assert capsys.readouterr().out.startswith("MPI_SHARED_NEIGHBORHOOD\n  meaning    Which ranks")
