# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Transports: what info programs print, what can be selected, and how each MPI is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Launcher, Mpi
from mpigauge.model.transport import Offers, Provider, Transport, UcxLane
from mpigauge.session.transport import refuse_contradictions
from mpigauge.site.mpi.advice import advice_among
from mpigauge.site.mpi.transports.choose import choose, transports
from mpigauge.site.mpi.transports.probe import FABRIC, UCX, interfaces
from mpigauge.site.mpi.transports.readers import (
    read_fi_info,
    read_netmods,
    read_ompi_info,
    read_ucx_info,
)
from mpigauge.site.mpi.transports.registry import report_of, transports_of
from mpigauge.site.topology.files import Recorded

DATA = Path(__file__).resolve().parents[3] / "data" / "transports"
MACHINES = sorted(path.name for path in DATA.iterdir() if path.is_dir())


def printed(machine: str, program: str) -> str:
    return (DATA / machine / f"{program}.txt").read_text(encoding="utf-8")


def offered(machine: str, netmods: tuple[str, ...] = ("ucx", "ofi")) -> Offers:
    lanes = read_ucx_info(printed(machine, "ucx_info"))
    tcp = dict.fromkeys(lane.device for lane in lanes if lane.transport == "tcp")
    return Offers(
        components=read_ompi_info(printed(machine, "ompi_info")),
        netmods=netmods,
        ucx=lanes,
        providers=read_fi_info(printed(machine, "fi_info")),
        interfaces=tuple(tcp),
    )


def mpi(name: str, version: str = "5.0", library_string: str = "") -> Mpi:
    launcher: Launcher = "openmpi" if name == "openmpi" else "hydra"
    return Mpi(
        name=name,
        version=version,
        standard="4.0",
        library=Path("/mpi/lib/libmpi.so"),
        library_string=library_string,
        abi="ompi" if name == "openmpi" else "mpich",
        launcher=launcher,
        mpiexec=Path("/mpi/bin/mpiexec"),
        prefix=Path("/mpi"),
        include=None,
        env={},
        found="",
    )


def names(of: Mpi, offers: Offers) -> list[str]:
    return [transport.name for transport in transports(of, offers)]


# --- readers --------------------------------------------------------------------------------
def test_ucx_of_a_machine_with_infiniband() -> None:
    lanes = read_ucx_info(printed("rome-infiniband", "ucx_info"))
    assert UcxLane("rc_mlx5", "mlx5_0:1", "network") in lanes
    assert UcxLane("tcp", "bond0", "network") in lanes
    assert UcxLane("posix", "memory", "intra-node") in lanes
    assert UcxLane("self", "memory", "loopback") in lanes
    assert len(lanes) == len(set(lanes)) == 12


def test_ucx_of_this_kind_of_machine_as_recorded() -> None:
    assert read_ucx_info(printed("vm-no-card", "ucx_info")) == (
        UcxLane("self", "memory0", "loopback"),
        UcxLane("tcp", "lo", "network"),
        UcxLane("tcp", "eth0", "network"),
        UcxLane("sysv", "memory", "intra-node"),
        UcxLane("posix", "memory", "intra-node"),
        UcxLane("cma", "memory", "intra-node"),
    )


def test_the_older_layout_of_ucx_tells_no_kinds() -> None:
    lanes = read_ucx_info(printed("power9-two-cards", "ucx_info"))
    assert [lane.device for lane in lanes if lane.transport == "rc_mlx5"] == [
        "mlx5_0:1",
        "mlx5_3:1",
    ]
    assert {lane.kind for lane in lanes} == {"network", "intra-node", "loopback", "accelerator"}


def test_providers_are_those_that_mpi_can_use() -> None:
    assert read_fi_info(printed("cloud-efa", "fi_info")) == (
        Provider("efa", "rdmap0s6-rdm"),
        Provider("tcp;ofi_rxm", "ens5"),
    )
    assert read_fi_info(printed("vm-no-card", "fi_info")) == (
        Provider("shm", "shm"),
        Provider("tcp", "eth0"),
        Provider("tcp", "lo"),
    )
    assert read_fi_info("") == ()


def test_components_of_open_mpi() -> None:
    found = read_ompi_info(printed("vm-no-card", "ompi_info"))
    assert found["pml"] == ("cm", "ob1", "ucx")
    assert found["btl"] == ("self", "ofi", "sm", "tcp", "uct")
    assert found["mtl"] == ("ofi",)
    assert read_ompi_info("no such thing") == {}


@pytest.mark.parametrize(
    ("device", "netmods"),
    [
        ("ch4:ucx ofi", ("ucx", "ofi")),
        ("ch4:ofi (embedded libfabric)", ("ofi",)),
        ("ch3:nemesis", ("tcp",)),
        ("ch4", ()),
    ],
)
def test_netmods_of_mpich(device: str, netmods: tuple[str, ...]) -> None:
    assert read_netmods(f"MPICH Version: 5\nMPICH Device:    {device}\nx") == netmods


def test_interfaces_that_are_up() -> None:
    states = {"eth0": "up", "lo": "unknown", "ifb0": "down", "ib0": "lowerlayerdown"}
    record = "".join(f"sys/class/net/{name}/operstate\t{s}\n" for name, s in states.items())
    assert list(interfaces(Recorded(record))) == ["eth0", "lo"]


# --- what can be selected -------------------------------------------------------------------
def test_every_name_on_a_machine_with_infiniband() -> None:
    assert names(mpi("openmpi", "4.1.5"), offered("rome-infiniband")) == [
        "shm", "tcp", "tcp:bond0", "tcp:ibp161s0", "tcp:lo",
        "ucx", "ucx:bond0", "ucx:ibp161s0", "ucx:mlx5_0:1",
        "ucx:tcp@bond0", "ucx:tcp@ibp161s0", "ucx:dc_mlx5@mlx5_0:1", "ucx:rc_verbs@mlx5_0:1",
        "ucx:rc_mlx5@mlx5_0:1", "ucx:ud_verbs@mlx5_0:1", "ucx:ud_mlx5@mlx5_0:1",
        "ofi", "ofi:verbs;ofi_rxm", "ofi:tcp;ofi_rxm",
    ]  # fmt: skip


SETTINGS: list[tuple[str, str, str, str, dict[str, str]]] = [
    ("openmpi", "4.1.5", "rome-infiniband", "shm",
     {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}),
    ("openmpi", "5.0.6", "cloud-efa", "shm",
     {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm"}),
    ("openmpi", "4.1.5", "rome-infiniband", "tcp:bond0",
     {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "bond0"}),
    ("openmpi", "4.1.5", "rome-infiniband", "ucx:mlx5_0:1",
     {"OMPI_MCA_pml": "ucx", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any",
      "UCX_NET_DEVICES": "mlx5_0:1"}),
    ("openmpi", "5.0.6", "cloud-efa", "ofi:efa",
     {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_mtl_ofi_provider_include": "efa",
      "FI_PROVIDER": "efa"}),
    ("mpich", "5.0", "rome-infiniband", "shm", {"MPIR_CVAR_NOLOCAL": "0"}),
    ("mpich", "5.0", "rome-infiniband", "tcp:ibp161s0",
     {"MPIR_CVAR_CH4_NETMOD": "ucx", "MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self",
      "UCX_NET_DEVICES": "ibp161s0"}),
    ("mpich", "5.0", "power9-two-cards", "ucx:rc_mlx5@mlx5_3:1",
     {"MPIR_CVAR_CH4_NETMOD": "ucx", "MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "rc_mlx5,self",
      "UCX_NET_DEVICES": "mlx5_3:1"}),
    ("mpich", "5.0", "skylake-omnipath", "ofi:psm2",
     {"MPIR_CVAR_CH4_NETMOD": "ofi", "MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "psm2"}),
    ("intel", "2021.18", "vm-no-card", "shm", {"I_MPI_FABRICS": "shm"}),
    ("intel", "2021.18", "vm-no-card", "tcp:eth0",
     {"I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": "tcp", "FI_PROVIDER": "tcp",
      "FI_TCP_IFACE": "eth0"}),
    ("intel", "2021.18", "skylake-omnipath", "ofi:psm2",
     {"I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": "psm2", "FI_PROVIDER": "psm2"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "version", "machine", "wanted", "settings"), SETTINGS)
def test_settings(
    name: str, version: str, machine: str, wanted: str, settings: dict[str, str]
) -> None:
    assert choose(wanted, mpi(name, version), offered(machine)).settings == settings


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["openmpi", "mpich", "intel"])
def test_names_are_unique_and_settings_are_environment_variables(name: str, machine: str) -> None:
    found = transports(mpi(name), offered(machine))
    assert len({transport.name for transport in found}) == len(found)
    assert found[0].name == "shm"
    for transport in found:
        assert transport.settings
        assert all(variable.isidentifier() for variable in transport.settings)
        assert transport == choose(transport.name, mpi(name), offered(machine))


def test_what_is_not_there_is_not_offered() -> None:
    laptop = offered("laptop-no-network")
    assert names(mpi("openmpi", "5.0.3"), laptop) == ["shm", "tcp", "tcp:lo"]
    assert names(mpi("intel"), laptop) == ["shm", "ofi", "ofi:shm"]
    assert names(mpi("mpich"), laptop) == ["shm", "ucx", "ofi", "ofi:shm"]
    assert "ofi" not in names(mpi("openmpi", "5.0.11"), offered("vm-no-card"))
    assert names(mpi("mpich"), Offers()) == ["shm"]


def test_mpich_takes_tcp_from_the_first_netmod_that_has_it() -> None:
    vm = "vm-no-card"
    ofi = choose("tcp:eth0", mpi("mpich"), offered(vm, ("ofi",))).settings
    assert (ofi["FI_PROVIDER"], ofi["FI_TCP_IFACE"]) == ("tcp", "eth0")
    old = choose("tcp:eth0", mpi("mpich", "3.4"), offered(vm, ("tcp",))).settings
    assert old == {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": "eth0"}


def test_intel_mpi_has_ucx_where_libfabric_has_mlx() -> None:
    lanes = (UcxLane("rc_mlx5", "mlx5_0:1", "network"),)
    offers = Offers(ucx=lanes, providers=(Provider("mlx", "mlx"),))
    assert choose("ucx:mlx5_0:1", mpi("intel"), offers).settings == {
        "I_MPI_FABRICS": "ofi",
        "I_MPI_OFI_PROVIDER": "mlx",
        "FI_PROVIDER": "mlx",
        "UCX_NET_DEVICES": "mlx5_0:1",
    }


# --- what an MPI tells ------------------------------------------------------------------------
OPENMPI_TABLE = """\
Host 0 [a] ranks 0 - 1
 host | 0   1
======|==========
    0 : sm  ucx[  3]
Connection summary: (pml)
  on-host:  all connections are sm
  off-host: all connections are ucx=rc_mlx5;mlx5_0:1
"""
INTEL = """\
[0] MPI startup(): library kind: release
[0] MPI startup(): libfabric provider: psm3
[0] MPI startup(): ===== NIC pinning on a =====
[0] MPI startup(): Rank    Thread id  Pin nic
[0] MPI startup(): 0       0          irdma0
[0] MPI startup(): 1       0          irdma1
[0] MPI startup(): ===== CPU pinning =====
[0] MPI startup(): 0       5080     vm         {0-1}
"""


@pytest.mark.parametrize(
    ("name", "text", "used"),
    [
        ("openmpi", OPENMPI_TABLE, "sm within a host, ucx=rc_mlx5;mlx5_0:1 between hosts"),
        ("openmpi", "  on-host:  all connections are tcp\n  off-host: all connections are n/a\n",
         "tcp within a host"),
        ("openmpi", "  on-host:  all connections are self\n  off-host: all connections are tcp\n",
         "tcp between hosts"),
        ("openmpi", "nothing", ""),
        ("intel", INTEL, "provider psm3 on irdma0, irdma1"),
        ("intel", "[0] MPI startup(): library kind: release\n",
         "shm within a host"),
        ("intel", "", ""),
        ("mpich", "==== UCX netmod Capability ====\n", "netmod ucx"),
        ("mpich", "provider: tcp, score = 4\nlibfabric provider: tcp;ofi_rxm - 10.0.0.0/24\n",
         "netmod ofi, provider tcp;ofi_rxm"),
        ("mpich", "", ""),
        ("other", OPENMPI_TABLE, ""),
    ],
)  # fmt: skip
def test_what_an_mpi_tells_of_what_it_uses(name: str, text: str, used: str) -> None:
    assert report_of(name).read(text) == used


# --- mistakes ---------------------------------------------------------------------------------
def test_a_device_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(UserError) as error:
        choose("ucx:mlx5_1:1", mpi("openmpi", "4.1.5"), offered("rome-infiniband"))
    said = str(error.value)
    assert said.startswith(
        "--transport: openmpi 4.1.5 has no 'ucx:mlx5_1:1' here; did you mean 'ucx:mlx5_0:1'? "
        "(there are: shm, tcp, tcp:bond0,"
    )
    assert "ucx:rc_mlx5@mlx5_0:1" in said


def test_an_mpi_that_we_cannot_tell() -> None:
    with pytest.raises(UserError, match=r"the transports of cray-mpich 8 are not known"):
        transports(mpi("cray-mpich", "8"), Offers())


def test_an_open_mpi_that_does_not_tell() -> None:
    with pytest.raises(UserError, match=r"no ompi_info beside /mpi/bin/mpiexec, or it fails"):
        transports(mpi("openmpi"), Offers())


def test_a_transport_and_a_setting_must_not_contradict() -> None:
    chosen = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"}
    refuse_contradictions("tcp", chosen, {"pml": "ob1", "OMPI_MCA_btl": "self,tcp", "x": "y"})
    for given in ({"pml": "ucx"}, {"OMPI_MCA_pml": "ucx"}):
        with pytest.raises(UserError, match=r"--transport tcp sets OMPI_MCA_pml=ob1, --set"):
            refuse_contradictions("tcp", chosen, given)


@pytest.mark.parametrize(
    ("name", "settings", "option"),
    [
        ("openmpi", "pml=ucx", "--transport ucx also sets pml_ucx_tls=any pml_ucx_devices=any"),
        ("openmpi", "OMPI_MCA_pml=ucx UCX_LOG_LEVEL=warn", "--transport ucx also sets "),
        ("openmpi", "btl=self,tcp", "--transport tcp also sets pml=ob1"),
        ("openmpi", "pml=ob1 btl=self,tcp", ""),
        ("openmpi", "btl=self,openib", "`mpigauge mpi transports` lists "),
        ("openmpi", "coll=^hcoll", ""),
        ("mpich", "MPIR_CVAR_CH4_NETMOD=ucx", "--transport ucx also sets MPIR_CVAR_NOLOCAL=1"),
        ("mpich", "UCX_TLS=nope", "`mpigauge mpi transports` lists "),
    ],
)
def test_advice_on_settings_that_select_a_transport_by_hand(
    name: str, settings: str, option: str
) -> None:
    given = dict(word.split("=", 1) for word in settings.split())
    offers = offered("rome-infiniband")
    advice = advice_among(transports(mpi(name), offers), given)
    assert advice.startswith(option)
    assert bool(advice) == bool(option)


def test_two_lists_of_transports_for_one_mpi_are_refused() -> None:
    def none(of: Mpi, offers: Offers) -> list[Transport]:
        del of, offers
        return []

    transports(mpi("mpich"), Offers())
    with pytest.raises(RuntimeError, match="two transport lists are named 'mpich'"):
        transports_of("mpich")(none)


def test_the_children_are_programs() -> None:
    for script in (UCX, FABRIC):
        compile(script, "child", "exec")


def test_offers_are_json() -> None:
    from dataclasses import asdict

    assert json.loads(json.dumps(asdict(offered("rome-infiniband"))))["netmods"] == ["ucx", "ofi"]
