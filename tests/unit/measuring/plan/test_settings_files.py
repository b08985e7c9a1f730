# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings that name files: each file has to be there, and to be what the MPI reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.plan.arms.arms import Arm
from mpigauge.model.errors import UserError
from mpigauge.model.knob import Knob
from mpigauge.products.sweep.sweeping import known_settings
from mpigauge.session.lookups import look_up
from mpigauge.site.mpi.rule_files.openmpi import EVERY_COLLECTIVE, NUMBERS
from mpigauge.site.mpi.settings import catalogue
from mpigauge.site.mpi.settings.files import INPUTS, SWITCHES, check_files, check_switched_on

if TYPE_CHECKING:
    from mpigauge.session.targets import Setup

RULES = "1 # collectives\n7 # Bcast\n1\n4 # ranks\n2\n0 1 0 0\n1024 6 0 65536\n"
TUNED = "coll_tuned_dynamic_rules_filename"
HAN = "coll_han_dynamic_rules_filename"
NAMES = [name.replace("*", "") for name in INPUTS]


@pytest.mark.parametrize("prefix", ["", "OMPI_MCA_"])
@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_refused(name: str, prefix: str, tmp_path: Path) -> None:
    """Each setting that names something to read, by --set, --env and as a value of a sweep."""
    word = f"{prefix}{name}={tmp_path}/none"
    for option in ("settings", "env"):
        with pytest.raises(UserError, match=f"the setting {prefix}{name}: .*{tmp_path}/none"):
            look_up({option: (word,)})


@pytest.mark.parametrize("name", NAMES)
def test_a_swept_value_is_a_setting_too(name: str, tmp_path: Path) -> None:
    for values in ({name: f"{tmp_path}/none"}, {f"env:{name}": f"{tmp_path}/none"}):
        with pytest.raises(UserError, match=f"the setting {name}: .*{tmp_path}/none"):
            known_settings([Arm(), Arm(values)], cast("Setup", None))


def test_a_variable_that_is_handed_on_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I_MPI_TUNING_BIN", "/no/file")
    with pytest.raises(UserError, match="I_MPI_TUNING_BIN: cannot read /no/file"):
        look_up({"env": ("I_MPI_TUNING_BIN",)})


def test_paths_of_the_catalogue_are_looked_at() -> None:
    """What our catalogue calls a path to read is one of those that are checked."""
    programs = {"I_MPI_HYDRA_BOOTSTRAP_EXEC", "HYDRA_LAUNCHER_EXEC"}
    written = {"MPI_STATS_FILE", "MPI_RESET_PATH"}
    paths = [each.variable for each in catalogue.entries() if "path" in each.legal]
    assert paths
    for variable in set(paths) - programs - written:
        assert any(fnmatch(variable.removeprefix("OMPI_MCA_"), name) for name in INPUTS), variable


def write(folder: Path, text: str) -> str:
    file = folder / "file"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (TUNED, RULES),
        (TUNED, f"{RULES} # the end\n"),
        (TUNED, "2 7 1 8 1 1024 6 0 0 2 1 2 1 0 3 0 0"),
        (HAN, "1\nbcast\n1\nglobal_communicator\n1\n1\n1\n0 han\n"),
        ("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", '{"collective=bcast": {}}'),
        ("MPIR_CVAR_NETLOC_NODE_FILE", "anything"),
    ],
)
def test_files_that_are_read(name: str, text: str, tmp_path: Path) -> None:
    check_files({name: write(tmp_path, text)})


def test_values_that_name_no_file() -> None:
    check_files({"MPIR_CVAR_NETLOC_NODE_FILE": "auto", TUNED: "", "UCX_TLS": "/no/file"})
    check_files({"mca_base_param_files": "none", "OMPI_MCA_mca_param_files": "none"})
    check_files({"orte_default_hostfile": "none", "OMPI_MCA_prte_default_hostfile": "none"})


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (TUNED, "", "'' stands where a number should"),
        (TUNED, "0\n", "it holds no rule"),
        (TUNED, '{"collectives": {}}', "stands where a number should"),
        (TUNED, RULES.replace("1024 6 0 65536\n", ""), "'' stands where a number should"),
        (TUNED, RULES.replace("7 # Bcast", "99"), "no collective has the number 99"),
        (TUNED, "[[vary]]\nname = 1\n", "stands where a number should"),
        (HAN, RULES, "'7' stands where one of"),
        ("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "{", "it is not JSON"),
        ("MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE", json.dumps({"a": 1}), "its keys are not"),
    ],
)
def test_files_that_an_mpi_would_pass_over(name: str, text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no file of rules") as refused:
        check_files({name: write(tmp_path, text)})
    assert why in str(refused.value)
    assert "would pass over it in silence" in str(refused.value)


@pytest.mark.parametrize("prefix", ["", "OMPI_MCA_"])
@pytest.mark.parametrize("name", SWITCHES)
def test_a_file_that_nothing_switches_on(name: str, prefix: str) -> None:
    """The switch may be a setting, a variable of the environment, or on by default."""
    settings = {f"{prefix}{name}": "rules"}
    switch = SWITCHES[name]
    off, on = ([Knob(variable="", control=switch, default=each)] for each in ("false", "true"))
    with pytest.raises(UserError, match=f"{name} has no effect without --set {switch}=1"):
        check_switched_on(settings, off, {})
    for known, given, here in (
        (on, {}, {}),
        (off, {switch: "1"}, {}),
        (off, {f"OMPI_MCA_{switch}": "true"}, {}),
        (off, {}, {f"OMPI_MCA_{switch}": "1"}),
    ):
        check_switched_on({**settings, **given}, known, here)
    check_switched_on({"coll_tuned_bcast_algorithm": "1"}, off, {})


def test_the_numbers_of_collectives() -> None:
    assert {name: EVERY_COLLECTIVE.index(name.lower()) for name in NUMBERS} == NUMBERS


@pytest.mark.parametrize(
    "words",
    [
        ("run", "Bcast", "--set", f"{TUNED}=/no/file"),
        ("map", "--set", f"{TUNED}=/no/file"),
        ("quick", "--set", f"{TUNED}=/no/file"),
        ("exec", "--np", "1", "--set", f"{TUNED}=/no/file", "true"),
        ("profile", "--np", "1", "--set", f"{TUNED}=/no/file", "true"),
        ("sweep", "Bcast", "--vary", "I_MPI_DEBUG=0,1", "--env", "I_MPI_TUNING_BIN=/no/file"),
    ],
)
def test_commands_refuse_before_anything_starts(
    words: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(list(words)) == 2
    assert "cannot read /no/file" in capsys.readouterr().err
