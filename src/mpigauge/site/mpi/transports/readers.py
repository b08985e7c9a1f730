# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Parses the output of ompi_info, ucx_info and fi_info, and MPICH's version string."""

from __future__ import annotations

import re

from mpigauge.model.transport import Provider, UcxLane

FRAMEWORKS = ("pml", "btl", "mtl", "smsc", "osc")
NOT_FOR_MESSAGES = ("monitoring", "v", "example")
"""Components that only monitor others."""
KINDS = {
    "self": "loopback",
    **dict.fromkeys(("mm", "posix", "sysv", "cma", "knem"), "intra-node"),
    **dict.fromkeys(("cuda_copy", "cuda_ipc", "gdr_copy", "rocm_copy", "rocm_ipc"), "accelerator"),
}
"""Kinds of transports if an old ucx_info does not report them; all others are networks."""


def read_ompi_info(text: str) -> dict[str, tuple[str, ...]]:
    """Returns the components of `ompi_info --parsable`, by framework, in their order."""
    by_framework: dict[str, dict[str, None]] = {name: {} for name in FRAMEWORKS}
    for framework, component in re.findall(r"^mca:(\w+):(\w+):version:", text, re.MULTILINE):
        if framework in by_framework and component not in NOT_FOR_MESSAGES:
            by_framework[framework][component] = None
    result: dict[str, tuple[str, ...]] = {}
    for name, components in by_framework.items():
        if components:
            result[name] = tuple(components)
    return result


def read_ucx_info(text: str) -> tuple[UcxLane, ...]:
    """Returns transports and devices of `ucx_info -d`, each pair once.

    Versions before 1.8 print the device after the transport and no type.
    """
    lanes: dict[UcxLane, None] = {}
    transport = device = ""
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.lstrip("# ").partition(":"))
        if name == "Transport":
            transport, device = value, ""
        elif name == "Device":
            device = value
            lanes[UcxLane(transport, device, KINDS.get(transport, "network"))] = None
        elif name == "Type" and device:
            lanes.pop(UcxLane(transport, device, KINDS.get(transport, "network")), None)
            lanes[UcxLane(transport, device, value)] = None
    return tuple(lanes)


def read_fi_info(text: str) -> tuple[Provider, ...]:
    """Returns providers of `fi_info` with connectionless endpoints, which MPI needs, each once."""
    providers: dict[Provider, None] = {}
    for block in re.split(r"^provider:", text, flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        fields = dict(re.findall(r"^\s*(domain|type):\s*(\S+)", rest, re.MULTILINE))
        if fields.get("type") == "FI_EP_RDM":
            providers[Provider(name.strip(), fields.get("domain", ""))] = None
    return tuple(providers)


def read_netmods(library_string: str) -> tuple[str, ...]:
    """Returns the netmods after MPICH's device, the default first: ch4:ucx ofi."""
    match = re.search(r"^MPICH Device:\s*(ch\d):(.*)$", library_string, re.MULTILINE)
    if match is None:
        return ()
    if match[1] == "ch3":
        return ("tcp",)
    return tuple(re.findall(r"\b(ucx|ofi)\b", match[2]))
