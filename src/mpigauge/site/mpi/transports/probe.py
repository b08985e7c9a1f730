# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Queries an MPI, UCX and libfabric for transports on this host.

The info programs are used if an MPI has them. Otherwise its own libraries are queried in a child
process, so that a library of an unknown version cannot crash ours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.transport import Offers
from mpigauge.site.mpi import tools
from mpigauge.site.mpi.tools import FABRIC_LIBRARY, UCT
from mpigauge.site.mpi.transports.readers import (
    read_fi_info,
    read_netmods,
    read_ompi_info,
    read_ucx_info,
)
from mpigauge.site.topology.files import Files

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

UP = ("up", "unknown")
"""States of network interfaces that carry messages; the loopback's is unknown."""

# Prints what `ucx_info -d` prints of transports and devices. The structures are those of UCX 1.10
# and later.
UCX = """
import ctypes, sys
from ctypes import POINTER, Structure, byref, c_char, c_int, c_uint, c_uint64, c_uint8, c_void_p
folder = sys.argv[1]
where = folder + "/" if folder else ""
ucp = ctypes.CDLL(where + "libucp.so.0", mode=ctypes.RTLD_GLOBAL)
uct = ctypes.CDLL(where + "libuct.so.0", mode=ctypes.RTLD_GLOBAL)
version = (c_uint(), c_uint(), c_uint())
ucp.ucp_get_version(*map(byref, version))
if (version[0].value, version[1].value) < (1, 10):
    sys.exit("UCX is too old to be asked")

class Domain(Structure):
    _fields_ = [("name", c_char * 16)]

class About(Structure):
    _fields_ = [("mask", c_uint64), ("name", c_char * 16), ("count", c_uint),
                ("domains", POINTER(Domain)), ("flags", c_uint64), ("more", c_char * 256)]

class Lane(Structure):
    _fields_ = [("transport", c_char * 10), ("device", c_char * 32), ("kind", c_int),
                ("system", c_uint8)]

KINDS = ("network", "intra-node", "accelerator", "loopback")

def lanes(component):
    about = About(mask=1 | 2)
    uct.uct_component_query(component, byref(about))
    about.domains = domains = (Domain * max(1, about.count))()
    about.mask = 4
    uct.uct_component_query(component, byref(about))
    for domain in domains[: about.count]:
        config, opened = c_void_p(), c_void_p()
        if uct.uct_md_config_read(component, None, None, byref(config)):
            continue
        if uct.uct_md_open(component, domain.name, config, byref(opened)):
            continue
        found, count = POINTER(Lane)(), c_uint()
        if uct.uct_md_query_tl_resources(opened, byref(found), byref(count)) == 0:
            yield from found[: count.value]

components, count = POINTER(c_void_p)(), c_uint()
if uct.uct_query_components(byref(components), byref(count)):
    sys.exit("UCX does not answer")
for component in components[: count.value]:
    for lane in lanes(c_void_p(component)):
        kind = KINDS[lane.kind] if 0 <= lane.kind < len(KINDS) else "unknown"
        print("# Transport: %s\\n# Device: %s\\n# Type: %s"
              % (lane.transport.decode(), lane.device.decode(), kind))
"""

# Prints what fi_info prints of providers, domains and types.
FABRIC = """
import ctypes, sys
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64
from ctypes import c_void_p
folder = sys.argv[1]
fabric = ctypes.CDLL((folder + "/" if folder else "") + "libfabric.so.1")

class Named(Structure):
    _fields_ = [("object", c_void_p), ("name", c_char_p), ("provider", c_char_p)]

class Endpoint(Structure):
    _fields_ = [("kind", c_int)]

class Info(Structure):
    pass

Info._fields_ = [
    ("next", POINTER(Info)), ("caps", c_uint64), ("mode", c_uint64), ("format", c_uint32),
    ("from_bytes", c_size_t), ("to_bytes", c_size_t), ("from_", c_void_p), ("to", c_void_p),
    ("handle", c_void_p), ("transmit", c_void_p), ("receive", c_void_p),
    ("endpoint", POINTER(Endpoint)), ("domain", POINTER(Named)), ("fabric", POINTER(Named)),
]
KINDS = {1: "FI_EP_MSG", 2: "FI_EP_DGRAM", 3: "FI_EP_RDM"}
info = POINTER(Info)()
VERSION = 1 << 16 | 5
if fabric.fi_getinfo(c_uint32(VERSION), None, None, c_uint64(0), None, byref(info)):
    sys.exit("libfabric finds nothing")
while info:
    each = info.contents
    print("provider: %s\\n    domain: %s\\n    type: %s" % (
        each.fabric.contents.provider.decode(), each.domain.contents.name.decode(),
        KINDS.get(each.endpoint.contents.kind, "")))
    info = each.next
"""


def offers(mpi: Mpi, files: Files | None = None) -> Offers:
    """Returns the transports on this host; parts that cannot be queried are empty."""
    return Offers(
        components=read_ompi_info(_ompi_info(mpi)) if mpi.launcher == "openmpi" else {},
        netmods=read_netmods(mpi.library_string),
        ucx=read_ucx_info(_ucx_info(mpi)),
        providers=read_fi_info(_fi_info(mpi)),
        interfaces=tuple(interfaces(files or Files(Path("/")))),
    )


def interfaces(files: Files) -> Iterator[str]:
    """Yields network interfaces that are up."""
    for name in files.names("sys/class/net"):
        if (files.text(f"sys/class/net/{name}/operstate") or "").strip() in UP:
            yield name


def _ompi_info(mpi: Mpi) -> str:
    """Returns the output of the ompi_info next to the launcher; if several MPIs share a folder, of
    the one with the same suffix."""
    names = dict.fromkeys((f"ompi_info{mpi.mpiexec.suffix}", "ompi_info"))
    candidates = (mpi.mpiexec.with_name(name) for name in names)
    program = next((path for path in candidates if path.is_file()), None)
    if program:
        return tools.output([str(program), "--parsable"], mpi.env)
    return ""


def _ucx_info(mpi: Mpi) -> str:
    program = tools.program(mpi, "ucx_info", UCT)
    if program:
        return tools.output([program, "-d"], mpi.env)
    return _asked(mpi, UCX, UCT)


def _fi_info(mpi: Mpi) -> str:
    program = tools.program(mpi, "fi_info", FABRIC_LIBRARY)
    if program:
        return tools.output([program], mpi.env)
    return _asked(mpi, FABRIC, FABRIC_LIBRARY)


def _asked(mpi: Mpi, script: str, library: str) -> str:
    folder = tools.folder_with(mpi, library)
    return tools.output([sys.executable, "-c", script, str(folder or "")], mpi.env)
