# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The checks of GPUs, and of the memory of GPUs in an MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.doctor.check_finding import CheckFinding, Host
from mpigauge.products.doctor.registry import diagnose
from mpigauge.show.device_memory import support_lines
from mpigauge.site.mpi.device_memory import (
    CallTrial,
    CudaLibraries,
    LibraryReport,
    MpiOnGpus,
    latest_trials,
    support_of,
)
from mpigauge.site.mpi.device_memory.awareness import Circumstances
from tests.unit.products.doctor.test_doctor import changed, host, only
from tests.unit.site.mpi.test_device_memory import (
    BARE,
    DRIVER_PATH,
    INTEL,
    OPENMPI,
    WITH_UCX,
    an_mpi,
)

NODE, VM = "xeon-6426y-4-gpus", "vm-h200"
FIRST, SECOND = "NUMA node 0; near are CPU 0-15", "NUMA node 1; near are CPU 16-31"
DIRECT = (
    "whether network cards can reach GPU memory: nvidia_peermem is not loaded, and DMA-BUF takes "
    "a program to try"
)
REPORT = LibraryReport(
    13000,
    (("0000:19:00.0", "NVIDIA H100 80GB HBM3"), ("0000:38:00.0", "NVIDIA H100 80GB HBM3")),
    (("0000:19:00.0", "0000:38:00.0", True), ("0000:38:00.0", "0000:19:00.0", True)),
)


def texts(it: Host, check: str = "gpus") -> list[str]:
    return [finding.found for finding in diagnose(it, [check])]


def test_a_node_with_four_gpus() -> None:
    model = "NVIDIA H100 80GB HBM3"
    assert texts(host(NODE)) == [
        "GPU 3 has a PCIe link of 8 instead of 16 lanes",
        DIRECT,
        "NVIDIA driver 580.95.05",
        f"GPU 0 ({model}, 32.0 GT/s x16) is at {FIRST}; nearest card mlx5_0 (PIX)",
        f"GPU 1 ({model}, 32.0 GT/s x16) is at {FIRST}; nearest card mlx5_0 (NODE)",
        f"GPU 2 ({model}, 32.0 GT/s x16) is at {SECOND}; nearest card mlx5_1 (PIX)",
        f"GPU 3 ({model}, 32.0 GT/s x16, now x8) is at {SECOND}; nearest card mlx5_1 (NODE)",
    ]


def test_an_idle_link_is_no_fault() -> None:
    it = changed(NODE, current_link_speed="2.5 GT/s PCIe", current_link_width="16")
    assert {finding.state for finding in diagnose(it, ["gpus"])} == {"good", "unknown"}


def test_the_peer_module() -> None:
    it = host(NODE)
    it.files.files["sys/module/nvidia_peermem/version"] = "580.95.05"  # type: ignore[attr-defined]
    assert "network cards can reach GPU memory: the module nvidia_peermem is loaded" in texts(it)


def test_gpus_of_which_no_core_may_be_used() -> None:
    it = host(NODE)
    it = replace(it, machine=replace(it.machine, allowed=frozenset(range(16))))
    notes = [finding for finding in diagnose(it, ["gpus"]) if finding.state == "note"]
    assert [finding.found.partition(" is at ")[2] for finding in notes] == [
        "NUMA node 1, of which no CPU may be used; nearest card mlx5_1 (PIX)",
        "NUMA node 1, of which no CPU may be used; nearest card mlx5_1 (NODE)",
    ]
    assert notes[0].mend == "request cores of NUMA node 1: CPU 16-31"


def test_a_gpu_without_a_driver() -> None:
    it = changed(VM, uevent="PCI_CLASS=30200", version=None, information=None)
    finding = diagnose(it, ["gpus"])[0]
    assert (finding.state, finding.found) == ("bad", "there is no NVIDIA driver for GPU 0")


def test_a_virtual_machine() -> None:
    near = "all cores are equally near; nearest card eth0 (PHB)"
    assert texts(host(VM)) == [
        "NVIDIA driver 580.159.04",
        f"GPU 0 (NVIDIA H200, 32.0 GT/s x16): {near}",
    ]
    hidden = changed(VM, information=None, version=None)
    assert texts(hidden) == [
        "the version of NVIDIA's driver is not visible",
        f"GPU 0 (32.0 GT/s x16): {near}",
    ]


def test_machines_without_gpus() -> None:
    assert texts(host("vm-epyc-2-cores")) == ["no NVIDIA GPU"]


# --- device memory --------------------------------------------------------------------------
def on_gpus(
    mpi: Mpi,
    libraries: CudaLibraries,
    report: LibraryReport = REPORT,
    env: Mapping[str, str] | None = None,
    trials: tuple[CallTrial, ...] = (),
    machine: str = NODE,
) -> list[CheckFinding]:
    support = support_of(mpi, libraries)
    asked = MpiOnGpus(mpi, libraries, support, report, trials, env or {})
    return list(diagnose(replace(host(machine), on_gpus=asked), ["device-memory"]))


def test_no_mpi_was_asked() -> None:
    assert only(host(NODE), "device-memory").state == "unknown"


def test_a_driver_that_is_not_there() -> None:
    nothing = LibraryReport()
    (missing,) = on_gpus(INTEL, CudaLibraries(None), nothing)
    assert (missing.state, missing.found) == (
        "bad",
        "the loader finds no libcuda.so.1 and no libcuda.so",
    )
    (needless,) = on_gpus(INTEL, CudaLibraries(None), nothing, machine="vm-epyc-2-cores")
    assert needless.state == "good"


def test_intel_mpi_needs_settings_and_the_path() -> None:
    found = {finding.found: finding for finding in on_gpus(INTEL, BARE)}
    assert [text for text in found if "not tried" not in text] == [
        "there is libcuda.so.1, and no libcuda.so beside it",
        "intel 2021.18.1 supports device memory by its own code for CUDA, which is not enabled",
        f"{DRIVER_PATH} supports CUDA 13.0 on 2 × NVIDIA H100 80GB HBM3",
        "all GPUs reach each other's memory",
    ]
    states = [finding.state for finding in found.values()]
    assert states == ["note", "note", "unknown", "good", "good"]
    variable = f"I_MPI_OFFLOAD_CUDA_LIBRARY={DRIVER_PATH}"
    name, off, *_ = found.values()
    assert f"`export {variable}`" in name.mend
    assert f"`export I_MPI_OFFLOAD=1 I_MPI_OFFLOAD_MODE=cuda {variable}`" in off.mend
    env = dict(word.split("=") for word in off.mend.partition("`")[2].partition("`")[0].split()[1:])
    assert {each.state for each in on_gpus(INTEL, BARE, env=env, trials=(ACCEPTED,))} == {"good"}


def test_open_mpi_with_and_without_ucx_for_cuda() -> None:
    bare = on_gpus(OPENMPI, BARE)[0]
    assert bare.found == "openmpi 5.0.11 does not support device memory"
    assert "mpigauge mpi install openmpi --cuda" in bare.mend
    added = on_gpus(OPENMPI, WITH_UCX)[0]
    assert "supports device memory by UCX with CUDA, which is not enabled" in added.found
    assert "export OMPI_MCA_pml=ucx" in added.mend
    own = on_gpus(OPENMPI, replace(WITH_UCX, ucx_by_default=True), trials=(ACCEPTED,))
    assert {finding.state for finding in own} == {"good"}


def test_an_mpi_that_is_not_known() -> None:
    strange = an_mpi("strange", "1")
    sentence = "the settings of strange 1 for device memory are not known; give its settings"
    findings = on_gpus(strange, BARE)
    assert {finding.state for finding in findings} == {"unknown", "good"}
    assert any(text.startswith(sentence) for text in texts_of(findings))
    lines = support_lines(MpiOnGpus(strange, BARE, support_of(strange, BARE), REPORT))
    assert any(line.startswith("strange 1: its settings for device memory") for line in lines)


@pytest.mark.parametrize(
    "problem", ["it offers no GPU to this process (CUDA_ERROR_NO_DEVICE)", "it did not answer"]
)
def test_a_driver_that_offers_nothing(problem: str) -> None:
    worst = on_gpus(OPENMPI, WITH_UCX, LibraryReport(13000, problem=problem))[0]
    assert worst.state == "bad"
    assert "nvidia-smi" in worst.mend
    hidden = on_gpus(
        OPENMPI, WITH_UCX, LibraryReport(13000, problem=problem), {"CUDA_VISIBLE_DEVICES": ""}
    )[0]
    assert hidden.mend == "CUDA_VISIBLE_DEVICES is set to ''; unset it, or name GPUs in it"
    assert worst.found == f"{DRIVER_PATH} supports CUDA 13.0, but {problem}"


def test_gpus_that_do_not_reach_each_other() -> None:
    peers = tuple((one, other, False) for one, other, _ in REPORT.peers)
    found = texts_of(on_gpus(OPENMPI, WITH_UCX, replace(REPORT, peers=peers)))
    assert "no peer access between 0000:19:00.0 and 0000:38:00.0" in found
    alone = texts_of(on_gpus(OPENMPI, WITH_UCX, replace(REPORT, peers=())))
    assert not any("memory of" in text or "peer" in text for text in alone)


def texts_of(findings: list[CheckFinding]) -> list[str]:
    return [finding.found for finding in findings]


def test_paths_are_those_of_the_test(tmp_path: Path) -> None:
    """With both names beside each other nothing is noted about names."""
    library = tmp_path / "libcuda.so.1"
    (tmp_path / "libcuda.so").touch()
    found = texts_of(on_gpus(INTEL, CudaLibraries(library)))
    assert not any("beside it" in text for text in found)


# --- trials ---------------------------------------------------------------------------------
NOWHERE = Circumstances(str(DRIVER_PATH))
READ = "this MPI read device memory on the CPU in MPI_Allreduce"
ACCEPTED = CallTrial("messages", "device", NOWHERE, ("PingPong",))
REFUSED = CallTrial("reductions", "device", NOWHERE, (), "Allreduce", READ)
MANAGED = CallTrial("reductions", "managed", NOWHERE, ("Allreduce",))
TRIALS = (REFUSED, ACCEPTED, MANAGED)


def test_what_trials_showed() -> None:
    found = {each.found: each.state for each in on_gpus(OPENMPI, WITH_UCX, trials=TRIALS)}
    assert found[f"openmpi 5.0.11 and device memory in reductions: {READ}"] == "note"
    assert found["openmpi 5.0.11 accepted device memory in messages"] == "good"
    assert found["openmpi 5.0.11 accepted managed memory in reductions"] == "good"
    assert not any("not tried" in text for text in found)
    assert any("was not tried" in text for text in texts_of(on_gpus(OPENMPI, WITH_UCX)))


def test_a_trial_counts_more_than_what_files_show() -> None:
    """A site's MPI may support device memory although nothing here knows how."""
    found = texts_of(on_gpus(OPENMPI, BARE, trials=(ACCEPTED,)))
    assert not any("does not support" in text for text in found)
    refused = texts_of(on_gpus(OPENMPI, BARE, trials=(REFUSED,)))
    assert "openmpi 5.0.11 does not support device memory" in refused


def test_the_latest_trial_counts() -> None:
    again = replace(REFUSED, accepted=("Allreduce",), refused="", reason="")
    assert latest_trials((REFUSED, ACCEPTED, again)) == {"device": (again, ACCEPTED)}


def test_the_lines_of_transports() -> None:
    about = MpiOnGpus(OPENMPI, WITH_UCX, support_of(OPENMPI, WITH_UCX), REPORT, TRIALS)
    gpus = ", ".join(f"{bus} {name}" for bus, name in REPORT.gpus)
    settings = (
        f"LD_LIBRARY_PATH={WITH_UCX.ucx}:/prefix/lib OMPI_MCA_pml=ucx "
        "OMPI_MCA_pml_ucx_devices=any OMPI_MCA_pml_ucx_tls=any"
    )
    assert list(support_lines(about)) == [
        f"driver: {DRIVER_PATH}, CUDA 13.0, {gpus}",
        "peer access: between all GPUs",
        f"openmpi 5.0.11: device memory by UCX with CUDA, with {settings} (set by --memory device)",
        "accepts device memory in: messages",
        f"not in reductions: {READ}",
        "accepts managed memory in: reductions",
    ]
    bare = MpiOnGpus(OPENMPI, CudaLibraries(None), support_of(OPENMPI, BARE), LibraryReport())
    assert list(support_lines(bare)) == [
        "there is no libcuda.so.1 and no libcuda.so: the driver's libraries are missing"
    ]


def test_a_driver_without_a_gpu_and_peers_in_lines() -> None:
    problem = "it offers no GPU to this process (CUDA_ERROR_NO_DEVICE)"
    support = support_of(OPENMPI, BARE)
    lines = list(
        support_lines(MpiOnGpus(OPENMPI, BARE, support, LibraryReport(12080, problem=problem)))
    )
    assert lines[0] == f"driver: {DRIVER_PATH}, CUDA 12.8; {problem}"
    assert "mpigauge mpi install openmpi --cuda" in lines[1]
    assert lines[2].startswith("not tried yet")
    peers = tuple((one, other, False) for one, other, _ in REPORT.peers)
    apart = MpiOnGpus(OPENMPI, BARE, support, replace(REPORT, peers=peers))
    assert "no peer access: 0000:19:00.0 and 0000:38:00.0" in list(support_lines(apart))
