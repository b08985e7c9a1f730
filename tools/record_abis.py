# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes schema/mpi_abis.toml: MPI's constants in each ABI, as headers of real MPIs have them.

    python tools/record_abis.py MPICH OPEN_MPI HANDLES

MPICH and OPEN_MPI are prefixes (MPICH's has mpi_abi.h, too), HANDLES is an Open MPI's
mpif-handles.h.

Only needed where a header has something new; tests compare the file with the headers that are here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = "schema/mpi_abis.toml"
ABIS = ("mpich", "ompi", "std")
KINDS = {
    "Comm": "comm",
    "Datatype": "datatype",
    "Errhandler": "errhandler",
    "File": "file",
    "Group": "group",
    "Info": "info",
    "Message": "message",
    "Op": "op",
    "Request": "request",
    "Session": "session",
    "Win": "win",
}
GROUPS = {
    "error": r"MPI_(T_)?ERR_\w+",
    "thread_level": r"MPI_THREAD_\w+",
    "file_mode": r"MPI_MODE_(APPEND|CREATE|DELETE_ON_CLOSE|EXCL|RDONLY|RDWR|SEQUENTIAL"
    r"|UNIQUE_OPEN|WRONLY)",
    "window_assertion": r"MPI_MODE_(NOCHECK|NOPRECEDE|NOPUT|NOSTORE|NOSUCCEED)",
    "combiner": r"MPI_COMBINER_\w+",
    "order": r"MPI_ORDER_\w+",
    "distribution": r"MPI_DISTRIBUTE_(BLOCK|CYCLIC|NONE)",
    "distribution_argument": r"MPI_DISTRIBUTE_DFLT_DARG",
    "type_class": r"MPI_TYPECLASS_\w+",
    "comparison": r"MPI_(IDENT|CONGRUENT|SIMILAR|UNEQUAL)",
    "topology": r"MPI_(CART|GRAPH|DIST_GRAPH)",
    "split_type": r"MPI_COMM_TYPE_\w+",
    "lock_type": r"MPI_LOCK_\w+",
    "window_flavor": r"MPI_WIN_FLAVOR_\w+",
    "window_model": r"MPI_WIN_(UNIFIED|SEPARATE)",
    "seek": r"MPI_SEEK_\w+",
    "keyval": r"MPI_(KEYVAL_INVALID|TAG_UB|IO|HOST|WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE"
    r"|UNIVERSE_SIZE|WIN_BASE|WIN_DISP_UNIT|WIN_SIZE|WIN_CREATE_FLAVOR|WIN_MODEL)",
    "rank": r"MPI_(ANY_SOURCE|PROC_NULL|ROOT)",
    "tag": r"MPI_ANY_TAG",
    "displacement": r"MPI_DISPLACEMENT_CURRENT",
    "length": r"MPI_MAX_\w+",
    "address": r"MPI_(IN_PLACE|BUFFER_AUTOMATIC|STATUS_IGNORE|UNWEIGHTED|WEIGHTS_EMPTY)"
    r"|MPI_T_PVAR_ALL_HANDLES",
    "tool_verbosity": r"MPI_T_VERBOSITY_\w+",
    "tool_scope": r"MPI_T_SCOPE_\w+",
    "tool_bind": r"MPI_T_BIND_\w+",
    "tool_class": r"MPI_T_PVAR_CLASS_\w+",
    "tool_safety": r"MPI_T_CB_REQUIRE_\w+",
    "tool_order": r"MPI_T_SOURCE_(ORDERED|UNORDERED)",
}
"""The pattern of the names of each group of integer constants."""
REMOVED = {
    "MPI_COMBINER_HVECTOR_INTEGER",
    "MPI_COMBINER_HINDEXED_INTEGER",
    "MPI_COMBINER_STRUCT_INTEGER",
}
"""The constants that a header defines only if those removed from MPI 3.0 are enabled."""
OBJECTS = {"MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY", "MPI_T_PVAR_ALL_HANDLES"}
"""The constants that are variables in the library in MPICH's ABI."""


def preprocessed(include: Path, header: str, names: Iterable[str]) -> str:
    lines = [f"#include <{header}>", *(f"MPIGAUGE {name}_IS {name}" for name in names)]
    command = [
        "gcc",
        "-E",
        "-P",
        "-w",
        "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0",
        f"-I{include}",
        "-xc",
        "-",
    ]
    return subprocess.run(
        command, input="\n".join(lines), text=True, capture_output=True, check=True
    ).stdout


def integers(include: Path, header: str, names: list[str]) -> dict[str, int]:
    """The values of constants that are integers, or integers made pointers."""
    lines = [f"#define OMPI_OMIT_MPI1_COMPAT_DECLS 0\n#include <{header}>"]
    lines += [f"long long mpigauge_{name} = (long long)({name});" for name in names]
    command = ["gcc", "-S", "-w", "-O0", f"-I{include}", "-xc", "-", "-o", "-"]
    done = subprocess.run(
        command, input="\n".join(lines), text=True, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    text = done.stdout
    values = {}
    for name in names:
        match = re.search(rf"^mpigauge_{name}:\n\t\.(quad\t(-?\d+)|zero)", text, re.MULTILINE)
        if match:
            values[name] = int(match[2] or 0)
    return values


def constants(include: Path, header: str) -> list[str]:
    """All that look like constants of the standard."""
    text = (include / header).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    names = set(re.findall(r"\bMPI_[A-Z0-9_]+\b", text))
    return sorted(name for name in names if not name.endswith(("_FN", "_H", "_FN_NULL_C")))


def handles(include: Path, header: str, names: list[str]) -> dict[str, tuple[str, str]]:
    """Kind and text of each predefined handle: a number, or the object whose address it is."""
    text = preprocessed(include, header, names)
    predefined = {}
    for name in names:
        match = re.search(rf"^MPIGAUGE {name}_IS (.*)$", text, re.MULTILINE)
        kind = re.search(r"\bMPI_(" + "|".join(KINDS) + r")\)", match[1]) if match else None
        if match and kind:
            value = re.search(r"\b(ompi_\w+)\b|\b(0x[0-9a-fA-F]+)\b|\)\s*\(?(\d+)\b", match[1])
            if value:
                predefined[name] = (KINDS[kind[1]], value[1] or hex(int(value[2] or value[3], 0)))
        elif match and (kind := re.search(r"ompi_request_null", match[1])):
            predefined[name] = ("request", "ompi_request_null")
    return predefined


def main(words: list[str]) -> int:
    mpich, ompi = (Path(word) / "include" for word in words[:2])
    numbers = re.findall(r"parameter \((MPI_\w+)=(\d+)\)", Path(words[2]).read_text())
    headers = {"mpich": (mpich, "mpi.h"), "ompi": (ompi, "mpi.h"), "std": (mpich, "mpi_abi.h")}
    names = {abi: constants(*where) for abi, where in headers.items()}
    all_handles = {abi: handles(*where, names[abi]) for abi, where in headers.items()}
    kinds = {name: kind for abi in ABIS for name, (kind, _) in all_handles[abi].items()}
    groups = {}
    for abi in ABIS:
        for name in names[abi]:
            for group, pattern in GROUPS.items():
                if re.fullmatch(pattern, name):
                    groups[name] = group
    values = {}
    for abi, where in headers.items():
        text = preprocessed(*where, groups)
        present = [
            name
            for name in groups
            if name in names[abi]
            and "REMOVED" not in text.split(f"MPIGAUGE {name}_IS ")[1].split("\n")[0]
            and not (abi == "mpich" and name in OBJECTS)
        ]
        values[abi] = integers(*where, present)
    text = text_of(kinds, all_handles, groups, values)
    lines = ["", "[fortran]", *(f"{name} = {{ ompi = {number} }}" for name, number in numbers)]
    (ROOT / FILE).write_text(text + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


def text_of(
    kinds: dict[str, str],
    all_handles: dict[str, dict[str, tuple[str, str]]],
    groups: dict[str, str],
    values: dict[str, dict[str, int]],
) -> str:
    lines = [
        "# SPDX-License-Identifier: BSD-3-Clause",
        "# Copyright the mpigauge authors",
        "#",
        "# Constants of MPI in its ABIs, as headers of MPICH, Open MPI and the standard have them:",
        "# predefined handles as numbers or as the objects of Open MPI whose addresses they are,",
        "# integers, and the handles of Open MPI's Fortran, which are numbers of their own.",
        "# Written by tools/record_abis.py; tools/mpi_translation.py makes tables of it.",
    ]
    for kind in sorted(set(kinds.values())):
        lines += ["", f"[handle.{kind}]"]
        for name in sorted(name for name in kinds if kinds[name] == kind):
            pairs = [
                f'{abi} = "{all_handles[abi][name][1]}"' for abi in ABIS if name in all_handles[abi]
            ]
            lines.append(f"{name} = {{ {', '.join(pairs)} }}")
    for group in GROUPS:
        lines += ["", f"[integer.{group}]"]
        for name in sorted(name for name in groups if groups[name] == group):
            pairs = [f"{abi} = {values[abi][name]}" for abi in ABIS if name in values[abi]]
            lines.append(f"{name} = {{ {', '.join(pairs)} }}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
