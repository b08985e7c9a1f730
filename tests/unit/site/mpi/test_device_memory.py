# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings that each MPI needs for device memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi.device_memory import CudaLibraries, device_settings, support_of
from mpigauge.site.mpi.device_memory.libraries import DRIVER, driver_library
from mpigauge.site.mpi.device_memory.registry import SUPPORT

DRIVER_PATH = Path("/usr/lib/x86_64-linux-gnu/libcuda.so.1")
UCX = Path("/prefix/cuda/libucx/lib")
BARE = CudaLibraries(DRIVER_PATH)
WITH_UCX = CudaLibraries(DRIVER_PATH, UCX)


def an_mpi(name: str, version: str = "5.0.11", library_string: str = "") -> Mpi:
    return Mpi(
        name=name,
        version=version,
        standard="4.1",
        library=Path("/prefix/lib/libmpi.so"),
        library_string=library_string,
        abi="ompi" if name == "openmpi" else "mpich",
        launcher="openmpi" if name == "openmpi" else "hydra",
        mpiexec=Path("/prefix/bin/mpiexec"),
        prefix=Path("/prefix"),
        include=None,
        env={"LD_LIBRARY_PATH": "/prefix/lib"},
        found="here",
    )


INTEL = an_mpi("intel", "2021.18.1")
OPENMPI = an_mpi("openmpi")
CUDA_MPICH = an_mpi("mpich", "5.0.2", "MPICH configure:    --with-device=ch4 --with-cuda=/opt/cuda")


def test_intel_mpi_gets_the_path_of_the_drivers_library() -> None:
    assert device_settings(INTEL, BARE, {}, {}) == {
        "I_MPI_OFFLOAD": "1",
        "I_MPI_OFFLOAD_MODE": "cuda",
        "I_MPI_OFFLOAD_CUDA_LIBRARY": str(DRIVER_PATH),
    }


@pytest.mark.parametrize("name", [*SUPPORT, "unknown"])
def test_without_a_driver_no_mpi_gets_a_setting(name: str) -> None:
    mpi = an_mpi(name, library_string=CUDA_MPICH.library_string)
    assert device_settings(mpi, CudaLibraries(None, UCX), {}, {}) == {}


def test_an_old_intel_mpi_gets_none() -> None:
    old = replace(INTEL, version="2021.9.0")
    assert device_settings(old, BARE, {}, {}) == {}
    assert "2021.13" in support_of(old, BARE).remedy


def test_open_mpi_gets_ucx_and_the_added_libraries_first() -> None:
    settings = device_settings(OPENMPI, WITH_UCX, {}, {})
    assert settings == {
        "OMPI_MCA_pml": "ucx",
        "OMPI_MCA_pml_ucx_tls": "any",
        "OMPI_MCA_pml_ucx_devices": "any",
        "LD_LIBRARY_PATH": f"{UCX}:/prefix/lib",
    }
    own = replace(WITH_UCX, ucx_by_default=True)
    assert "LD_LIBRARY_PATH" not in device_settings(OPENMPI, own, {}, {})


def test_open_mpi_without_cuda_gets_none_and_the_remedy() -> None:
    assert device_settings(OPENMPI, BARE, {}, {}) == {}
    assert "mpigauge mpi install openmpi --cuda" in support_of(OPENMPI, BARE).remedy
    built = support_of(OPENMPI, replace(BARE, built_in=True))
    assert (built.remedy, built.settings) == ("", {})
    assert built.through


@pytest.mark.parametrize(
    ("configure", "has_cuda"),
    [
        ("--with-cuda=/opt/cuda --with-device=ch4", True),
        ("'--with-cuda'", True),
        ("--with-cuda", True),
        ("--with-cuda=no", False),
        ("--without-cuda", False),
        ("--with-cuda-sm=90", False),
        ("--with-device=ch4:ucx,ofi", False),
    ],
)
def test_mpich_is_asked_only_if_it_was_built_with_cuda(configure: str, has_cuda: bool) -> None:
    mpi = an_mpi("mpich", "5.0.2", f"MPICH Version: 5.0.2\nMPICH configure:    {configure}\nMPICH")
    expected = {"MPIR_CVAR_ENABLE_GPU": "1"} if has_cuda else {}
    assert device_settings(mpi, BARE, {}, {}) == expected
    assert bool(support_of(mpi, BARE).remedy) != has_cuda


@pytest.mark.parametrize("mpi", [INTEL, OPENMPI, CUDA_MPICH], ids=lambda mpi: mpi.name)
def test_what_the_user_sets_wins(mpi: Mpi) -> None:
    needed = device_settings(mpi, WITH_UCX, {}, {})
    assert needed
    for name in needed:
        rest = {other: value for other, value in needed.items() if other != name}
        assert device_settings(mpi, WITH_UCX, {name: "mine"}, {}) == rest
        if name != "LD_LIBRARY_PATH":  # in the environment it is no choice
            assert device_settings(mpi, WITH_UCX, {}, {name: "mine"}) == rest
        assert device_settings(mpi, WITH_UCX, {}, {}, {name: "selected"}) == rest
    parameter = {"pml": "ob1"}
    assert "OMPI_MCA_pml" not in device_settings(mpi, WITH_UCX, parameter, {})


@pytest.mark.parametrize("tls", ["sm,self", "tcp", "^cuda", "^cuda_copy,tcp", "cuda_ipc,sm"])
@pytest.mark.parametrize("is_chosen", [True, False])
def test_a_ucx_tls_without_cuda_is_refused(tls: str, is_chosen: bool) -> None:
    given = {"UCX_TLS": tls}
    chosen, env = (given, {}) if is_chosen else ({}, given)
    with pytest.raises(UserError, match="leaves out cuda") as error:
        device_settings(OPENMPI, WITH_UCX, chosen, env)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("tls", ["all", "sm,cuda", "cuda_copy,cuda_ipc,sm", "^tcp", "", r"\cuda"])
def test_a_ucx_tls_with_cuda_stays(tls: str) -> None:
    assert "UCX_TLS" not in device_settings(OPENMPI, WITH_UCX, {"UCX_TLS": tls}, {})


def test_a_selected_transport_gets_cuda_beside_it() -> None:
    selected = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
    settings = device_settings(OPENMPI, WITH_UCX, {}, {}, selected)
    assert settings["UCX_TLS"] == "tcp,self,cuda"
    assert "UCX_NET_DEVICES" not in settings


def a_library(path: Path) -> Path:
    """A file that the loader takes for a library of this machine."""
    import sys

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(Path(sys.executable).resolve().read_bytes())
    return path


def test_the_drivers_library_has_two_names_and_several_places(tmp_path: Path) -> None:
    root = tmp_path / "root"
    assert driver_library({}, root) is None
    unversioned = a_library(root / "usr/lib64" / DRIVER[1])
    assert driver_library({}, root) == unversioned
    versioned = a_library(root / "usr/lib" / DRIVER[0])
    assert driver_library({}, root) == versioned
    (root / "own").mkdir()
    (root / "own" / DRIVER[0]).write_text("not a library")
    assert driver_library({"LD_LIBRARY_PATH": "/own"}, root) == versioned
    own = a_library(root / "own" / DRIVER[0])
    assert driver_library({"LD_LIBRARY_PATH": "/own:/usr/lib64"}, root) == own


def test_a_toolkits_stub_is_no_driver(tmp_path: Path) -> None:
    a_library(tmp_path / "cuda/lib64/stubs" / DRIVER[1])
    assert driver_library({"LD_LIBRARY_PATH": "/cuda/lib64/stubs"}, tmp_path) is None


def test_libraries_of_the_environment_do_not_hide_those_of_ucx() -> None:
    """On a GPU node, LD_LIBRARY_PATH names the driver's folder; the MPI's value ends with it."""
    mpi = replace(OPENMPI, env={"LD_LIBRARY_PATH": "/prefix/lib:/usr/local/nvidia/lib64"})
    settings = device_settings(mpi, WITH_UCX, {}, {"LD_LIBRARY_PATH": "/usr/local/nvidia/lib64"})
    assert settings["LD_LIBRARY_PATH"] == f"{UCX}:/prefix/lib:/usr/local/nvidia/lib64"
    mine = {"LD_LIBRARY_PATH": "/my/ucx"}
    assert "LD_LIBRARY_PATH" not in device_settings(mpi, WITH_UCX, mine, {})
