# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings that real MPIs tell, and that our catalogue speaks of nothing they have not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi import find
from mpigauge.site.mpi.settings import catalogue, knobs
from mpigauge.site.mpi.settings.control import variables
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi


def test_the_catalogue_speaks_of_what_is_there(mpi: Mpi) -> None:
    names = [knob.variable for knob in knobs(mpi)]
    ours = [
        entry
        for entry in catalogue.entries()
        if entry.of == mpi.name and entry.is_of_version(mpi.version)
    ]
    assert len(ours) > 10
    assert [e.variable for e in ours if not any(e.fits(name) for name in names)] == []


def test_control_variables_are_read_and_typed(mpi: Mpi) -> None:
    found = variables(mpi)
    assert len(found) > 400
    assert all(each.name and each.scope and each.level for each in found)
    assert all(each.kind != "unknown" for each in found)
    assert sum(each.value is None for each in found) < len(found) / 4


def test_both_abis_of_a_library_tell_the_same() -> None:
    assert variables(find("mpich")) == variables(find("mpich@std"))


def test_the_default_is_not_what_somebody_has_set(tmp_path: Path) -> None:
    words = ("settings", "MPIR_CVAR_NOLOCAL", "--mpi", "mpich")
    env = {"MPIR_CVAR_NOLOCAL": "1"}
    done = cli.mpigauge(*words, "--json", cwd=tmp_path, env=env)
    (knob,) = json.loads(done.stdout)["settings"]
    assert (knob["default"], knob["read"]) == ("0", "start")
    shown = cli.mpigauge(*words, cwd=tmp_path, env=env).stdout.splitlines()
    assert "  here       1" in shown


def test_intel_mpi_is_told_by_its_environment_variables() -> None:
    found = {knob.variable: knob for knob in knobs(find("intel"))}
    fabrics = found["I_MPI_FABRICS"]
    assert (fabrics.default, fabrics.kind) == ("shm:ofi", "string")
    assert found["FI_TCP_IFACE"].of == "libfabric"
    assert found["FI_TCP_IFACE"].about


def test_what_matters_and_a_search(tmp_path: Path) -> None:
    done = cli.mpigauge("settings", "--mpi", "openmpi", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert {"OMPI_MCA_pml", "OMPI_MCA_coll_tuned_*_algorithm", "UCX_TLS"} <= set(names)
    done = cli.mpigauge("settings", "allreduce_algoritm", "--mpi", "openmpi", cwd=tmp_path)
    assert done.returncode == 2
    assert "no setting has 'allreduce_algoritm' in its name" in done.stderr
    assert "did you mean 'allreduce_algorithm'?" in done.stderr
