# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks settings with names of input files. Most MPIs silently ignore a file that is missing or of
another kind, and a run would show the default under the name of the setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.inputs import read_input, read_text
from mpigauge.site.mpi.rule_files import openmpi

if TYPE_CHECKING:
    from mpigauge.model.knob import Knob

Check = Callable[[str, str], None]
"""Takes the beginning of an error, and a path. UserError: the MPI could not read that file."""
_WORDS = {
    "MPIR_CVAR_NETLOC_NODE_FILE": ("auto",),
    "mca_base_param_files": ("none",),
    "mca_param_files": ("none",),
    "*_default_hostfile": ("none",),
}
"""Values that name no file, by names as in INPUTS."""


def check_files(settings: Mapping[str, str]) -> None:
    """Raises a UserError if one of these settings names a missing or invalid file."""
    for name, value in settings.items():
        bare = name.removeprefix("OMPI_MCA_")
        for pattern, check in INPUTS.items():
            if fnmatchcase(bare, pattern) and value and value not in _WORDS.get(pattern, ()):
                check(f"the setting {name}: ", value)


def check_switched_on(
    settings: Mapping[str, str], every: Iterable[Knob], environment: Mapping[str, str]
) -> None:
    """Raises a UserError if one of these settings names a file that the MPI would not read, since
    no setting, no variable of this environment and no default switches that on."""
    defaults = {knob.control: knob.default for knob in every}
    for name, switch in SWITCHES.items():
        names = (switch, f"OMPI_MCA_{switch}")
        is_given = any(each in settings or each in environment for each in names)
        is_on = (defaults.get(switch) or "").lower() not in ("", "0", "false", "no")
        if {name, f"OMPI_MCA_{name}"} & settings.keys() and not (is_given or is_on):
            raise UserError(
                f"the setting {name} has no effect without --set {switch}=1: Open MPI would pass "
                "over the file in silence"
            )


def _file(option: str, path: str) -> None:
    read_input(Path(path), option)


def _files(option: str, paths: str) -> None:
    for path in filter(None, paths.replace(":", ",").split(",")):
        _file(option, path)


def _folders(option: str, paths: str) -> None:
    for path in filter(None, paths.replace(":", ",").split(",")):
        if not Path(path).is_dir():
            raise UserError(f"{option}there is no folder {path}")


def _rules_of(read: Callable[[str], object], of: str) -> Check:
    def check(option: str, path: str) -> None:
        text = read_text(Path(path), option)
        try:
            read(text)
        except (ValueError, RecursionError) as error:
            raise UserError(
                f"{option}{path} is no file of rules: {error}; {of} would pass over it in silence"
            ) from None

    return check


def _read_tree(text: str) -> None:
    """Checks a tree. ValueError: it is not a tree of MPICH."""
    try:
        tree = json.loads(text)
    except ValueError:
        raise ValueError("it is not JSON") from None
    if not isinstance(tree, dict) or not all(key.startswith("collective=") for key in tree):
        raise ValueError("its keys are not collective=NAME")


SWITCHES: Mapping[str, str] = {
    "coll_tuned_dynamic_rules_filename": "coll_tuned_use_dynamic_rules",
    "coll_han_dynamic_rules_filename": "coll_han_use_dynamic_file_rules",
}
"""Settings that name files, and the setting without which each is ignored."""
_TREE = _rules_of(_read_tree, "MPICH")
INPUTS: Mapping[str, Check] = {
    "coll_tuned_dynamic_rules_filename": _rules_of(openmpi.check_rules, "Open MPI"),
    "coll_han_dynamic_rules_filename": _rules_of(openmpi.check_han_rules, "Open MPI"),
    "mca_base_param_files": _files,
    "mca_param_files": _files,
    "mca_base_override_param_file": _file,
    "mca_base_param_file_path*": _folders,
    "mca_base_component_path": _folders,
    "mca_component_path": _folders,
    "hook_comm_method_fakefile": _file,
    "*_default_hostfile": _file,
    "hwloc_base_topo_file": _file,
    "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": _TREE,
    "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE*": _TREE,
    "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE*": _TREE,
    "MPIR_CVAR_COORDINATES_FILE": _file,
    "MPIR_CVAR_NETLOC_NODE_FILE": _file,
    "HYDRA_HOST_FILE": _file,
    "I_MPI_HYDRA_HOST_FILE": _file,
    "I_MPI_TUNING_BIN": _file,
    "I_MPI_TUNING_BIN_PATH": _folders,
    "I_MPI_PMI_LIBRARY": _file,
    "UCX_CONFIG_DIR": _folders,
    "FI_PROVIDER_PATH": _folders,
}
"""Settings that name files or folders to read, by names with stars, without OMPI_MCA_."""
