# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the tables of the translation from the standard's description and schema/mpi_abis.toml.

    python tools/mpi_translation.py [--check]

translate/constants.inc has the constants of all ABIs, translate/names.inc the names of MPI's calls,
translate/calls.inc a function for each call, whose parameters say by their kinds what becomes of
them, translate/fortran.inc the same of Fortran, translate/f08.inc that of mpi_f08 in MPICH where it
has buffers.
What is left to be written by hand is named here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pympistandard  # type: ignore[import-untyped]
import tomli

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools.mpi_calls import NOTES, Call, Parameter, read_notes, read_standard  # noqa: E402

CONSTANTS = "schema/mpi_abis.toml"
ABIS = ("mpich", "ompi", "std")
EXTENSIONS = {
    "MPIX_SHORT_FLOAT": {"mpich": "0x4c000246", "ompi": "ompi_mpi_short_float"},
    "MPIX_C_SHORT_FLOAT_COMPLEX": {"ompi": "ompi_mpi_c_short_float_complex"},
    "MPIX_CXX_SHORT_FLOAT_COMPLEX": {"ompi": "ompi_mpi_cxx_sfltcplex"},
}
"""Types that a header of an extension refers to, so that programs do not start without them."""
HEAD = (
    "// SPDX-License-Identifier: BSD-3-Clause",
    "// Copyright the mpigauge authors",
    "// Made by tools/mpi_translation.py from pympistandard and schema/mpi_abis.toml. Do not edit.",
    "// clang-format off",
)

BY_HAND = frozenset(
    [
        # callbacks
        *(
            "Op_create",
            "Comm_create_keyval",
            "Type_create_keyval",
            "Win_create_keyval",
            "Keyval_create",
        ),
        *("Comm_create_errhandler", "File_create_errhandler", "Win_create_errhandler"),
        *("Session_create_errhandler", "Grequest_start", "Register_datarep"),
        *("T_event_register_callback", "T_event_set_dropped_handler", "T_event_handle_free"),
        # attributes whose values are of an ABI
        *("Comm_get_attr", "Win_get_attr", "Attr_get"),
        # start and end
        *("Init", "Init_thread", "Session_init", "Pcontrol"),
        # types
        *("Type_get_contents", "Type_get_envelope", "Type_create_darray"),
        # processes
        *(
            "Comm_spawn",
            "Comm_spawn_multiple",
            "Comm_idup",
            "Comm_idup_with_info",
            "Info_create_env",
        ),
        # the buffer of MPI_Bsend, whose size is of an ABI
        *("Buffer_attach", "Buffer_detach"),
        # tools
        *("T_cvar_handle_alloc", "T_pvar_handle_alloc", "T_event_handle_alloc", "T_event_get_info"),
    ]
)
"""The calls written in C++ (translate/by_hand_*.cpp), with their forms for large counts."""
ANSWERED = frozenset(
    [
        *(
            f"Status_{way}_{field}"
            for way in ("get", "set")
            for field in ("source", "tag", "error")
        ),
        *(f"Request_get_status_{which}" for which in ("all", "any", "some")),
        *("Comm_get_name", "Type_get_name", "Win_get_name", "Error_class", "Type_get_value_index"),
        *("Buffer_flush", "Get_hw_resource_info", "Abi_get_version", "Abi_get_info"),
        "Abi_get_fortran_info",
    ]
)
"""The calls that translate/newer.cpp implements if the target lacks them."""
KINDS = {
    "COMMUNICATOR": "comm",
    "DATATYPE": "datatype",
    "ERRHANDLER": "errhandler",
    "FILE": "file",
    "GROUP": "group",
    "INFO": "info",
    "MESSAGE": "message",
    "OPERATION": "op",
    "REQUEST": "request",
    "SESSION": "session",
    "WINDOW": "win",
}
INTEGERS = {
    "ACCESS_MODE": ("InBits<Group::file_mode>", "OutBits<Group::file_mode>"),
    "ASSERT": ("InBits<Group::window_assertion>", ""),
    "BIND_TYPE": ("", "OutOf<Group::tool_bind>"),
    "CALLBACK_SAFETY": ("InOf<Group::tool_safety>", ""),
    "COMM_COMPARISON": ("", "OutOf<Group::comparison>"),
    "COMBINER": ("", "OutOf<Group::combiner>"),
    "ERROR_CLASS": ("ErrorIn", "ErrorOut"),
    "ERROR_CODE": ("ErrorIn", "MadeErrorOut"),
    "GROUP_COMPARISON": ("", "OutOf<Group::comparison>"),
    "KEYVAL": ("KeyvalIn", "KeyvalOut"),
    "LOCK_TYPE": ("InOf<Group::lock_type>", ""),
    "ORDER": ("InOf<Group::order>", ""),
    "PVAR_CLASS": ("InOf<Group::tool_class>", "OutOf<Group::tool_class>"),
    "RANK": ("Rank", "RankOut"),
    "RANK_NNI": ("Rank", "RankOut"),
    "SOURCE_ORDERING": ("", "OutOf<Group::tool_order>"),
    "SPLIT_TYPE": ("InOf<Group::split_type>", ""),
    "TAG": ("Tag", "TagOut"),
    "THREAD_LEVEL": ("InOf<Group::thread_level>", "OutOf<Group::thread_level>"),
    "TOOL_VAR_VERBOSITY": ("", "OutOf<Group::tool_verbosity>"),
    "TOPOLOGY_TYPE": ("", "OutOf<Group::topology>"),
    "TYPECLASS": ("InOf<Group::type_class>", ""),
    "UPDATE_MODE": ("InOf<Group::seek>", ""),
    "VARIABLE_SCOPE": ("", "OutOf<Group::tool_scope>"),
}
"""Integers of an ABI, by the standard's kind: as the program gives them, and as the target does."""
TEXTS = {
    "MPI_MAX_ERROR_STRING": "ErrorText",
    "MPI_MAX_LIBRARY_VERSION_STRING": "LibraryVersion",
    "MPI_MAX_OBJECT_NAME": "ObjectName",
    "MPI_MAX_PORT_NAME": "PortName",
    "MPI_MAX_PROCESSOR_NAME": "ProcessorName",
}
ALWAYS = {"BUFFER": "Buffer", "C_BUFFER2": "BufferOut", "WEIGHT": "Weights"}
GIVEN = {"OFFSET": "Offset", "PVAR": "PerformanceHandle"}
"""Other kinds: always, and where the program gives them."""
PLAIN = {"int": "Int", "MPI_Aint": "Long", "MPI_Offset": "Long", "MPI_Count": "Long"}
EXCEPTIONS = {
    ("Get_address", "location"): "Pointer",  # where something is, not a buffer
    ("Abort", "errorcode"): "Int",  # the exit status
    ("Comm_get_parent", "parent"): "Out<Kind::comm, Given::seen>",
    ("Group_translate_ranks", "ranks1"): "Ranks<1>",
    ("Group_translate_ranks", "ranks2"): "RanksOut<1>",
    ("Info_get_nthkey", "key"): "InfoKey<-1>",
    ("Cancel", "request"): "InOut<Kind::request>",
}


# --- what is said of parameters ------------------------------------------------------------------


def lengths() -> dict[tuple[str, str], str]:
    """The length of each array, by call and parameter; an asterisk: by the communicator."""
    pympistandard.use_api_version(1, force_bundled=True)
    array_lengths = {}
    for procedure in pympistandard.all_iso_c_procedures():
        name = procedure.express.iso_c.name.removeprefix("MPI_")
        for each in procedure.express.iso_c.parameters:
            length = each._parseset["length"]
            if isinstance(length, str):
                array_lengths[name, each.name.lower()] = length
    return array_lengths


class Wrapper:
    """The text of one call."""

    def __init__(
        self, call: Call, small: Call | None, array_lengths: dict[tuple[str, str], str]
    ) -> None:
        self.call = call
        self.small = small
        """The form without large counts of a call that has them; None: it has none."""
        self.lengths = array_lengths

    def text(self) -> str:
        name = self.call.name
        types = [self.type_of(position) for position in range(len(self.call.parameters))]
        given = ", ".join(f"a{n}" for n in range(len(types)))
        taken = ", ".join(f"{kind}::Program a{n}" for n, kind in enumerate(types))
        if self.small is None:
            words = ", ".join([f"call_{name}", *types])
            body = f"translated<{words}>({given})"
        else:
            narrow = [self.narrow_type(position) for position in range(len(types))]
            lists = f"List<{', '.join(types)}>{{}}, List<{', '.join(narrow)}>{{}}"
            body = f"translated_large<call_{name}, call_{self.small.name}>({lists}, {given})"
        return (
            f"MPIGAUGE_EXPORT int PMPI_{name}({taken}) {{ return {body}; }} MPIGAUGE_ALSO({name})"
        )

    def type_of(self, position: int) -> str:
        """Returns the C++ type that translates a parameter (translate/parameters.hpp)."""
        each = self.call.parameters[position]
        if special := EXCEPTIONS.get((self.call.base, each.name)):
            return special
        if each.kind in KINDS:
            return self.handle(each)
        if each.kind in INTEGERS and not each.is_array:
            return self.integer(each)
        if each.kind == "STATUS":
            return self.status(each)
        if each.kind == "STRING" and each.direction == "out":
            return self.string(each)
        if each.direction == "in" and each.kind in GIVEN:
            return GIVEN[each.kind]
        return ALWAYS.get(each.kind) or plain(each)

    def integer(self, each: Parameter) -> str:
        given, got = INTEGERS[each.kind]
        if each.direction == "inout":
            return f"KeyvalFreed<{self.kind_of_attributes()}>"
        if self.call.name.endswith(("set_attr", "Attr_put")):
            return f"KeyvalSet<{self.kind_of_attributes()}>"
        type_name = given if each.direction == "in" else got
        if not type_name:
            raise SystemExit(f"MPI_{self.call.name}: nothing is known of its {each.name}")
        return type_name

    def kind_of_attributes(self) -> str:
        kinds = {"Type": "datatype", "Win": "win"}
        return f"Kind::{kinds.get(self.call.name.partition('_')[0], 'comm')}"

    def handle(self, each: Parameter) -> str:
        kind = f"Kind::{KINDS[each.kind]}"
        if each.kind == "REQUEST" and each.is_array:
            return f"Requests<{self.length_at(each)}>"
        if each.is_array:
            return self.array_of_handles(each, kind)
        if each.direction == "in":
            return f"In<{kind}>"
        if each.direction == "inout" and self.call.base == "Type_commit":
            return f"InOut<{kind}>"
        if each.kind == "REQUEST" and each.direction == "out" and self.is_lasting():
            return "RequestOfArrays"
        return f"{'InOut' if each.direction == 'inout' else 'Out'}<{kind}>"

    def array_of_handles(self, each: Parameter, kind: str) -> str:
        if self.lengths.get((self.call.base, each.name)) != "*":
            return f"InArray<{kind}, {self.length_at(each)}>"
        buffer = self.call.position("sendbuf") if each.name == "sendtypes" else -1
        return f"Types<{self.members(each)}, {self.request()}, {buffer}>"

    def length_at(self, each: Parameter) -> int:
        return self.call.position(self.lengths[self.call.base, each.name])

    def members(self, each: Parameter) -> str:
        """Returns the C++ type that counts the ranks or neighbours of the communicator."""
        among = "ranks"
        if "eighbor" in self.call.name:
            among = "destinations" if each.name.startswith(("send", "s")) else "sources"
        return f"MembersOf<{self.call.position('comm')}, Among::{among}>"

    def is_lasting(self) -> bool:
        """True if the call reads its arrays until its request completes."""
        return "alltoallw" in self.call.name.lower() and self.request() >= 0

    def request(self) -> int:
        names = [each.name for each in self.call.parameters]
        return names.index("request") if "request" in names else -1

    def status(self, each: Parameter) -> str:
        names = [parameter.name for parameter in self.call.parameters]
        flag = names.index("flag") if "flag" in names else -1
        if each.direction == "in":
            return "StatusIn"
        if each.direction == "inout":
            return "StatusInOut"
        if not each.is_array:
            return f"StatusOut<{flag}>"
        written = names.index("outcount") if "outcount" in names else -1
        room = names.index("incount" if "incount" in names else "count")
        return f"Statuses<{room}, {written}, {flag}>"

    def string(self, each: Parameter) -> str:
        template = TEXTS.get(self.lengths.get((self.call.base, each.name), ""))
        names = [parameter.name for parameter in self.call.parameters]
        length = names.index("resultlen") if "resultlen" in names else -1
        return f"{template}<{length}>" if template else "Pointer"

    def narrow_type(self, position: int) -> str:
        """The same parameter for a target without large counts."""
        assert self.small is not None
        each, small = self.call.parameters[position], self.small.parameters[position]
        if each.name == "request" and self.has_narrow_arrays():
            return "RequestOfArrays"
        if not is_int(small) or is_int(each):
            return self.type_of(position)
        if each.is_array:
            return self.narrow_array(each)
        if each.direction == "in":
            return "Narrow"
        return "NarrowInOut" if each.direction == "inout" else "NarrowOut"

    def has_narrow_arrays(self) -> bool:
        assert self.small is not None
        pairs = zip(self.call.parameters, self.small.parameters, strict=True)
        return any(each.is_array and is_int(small) != is_int(each) for each, small in pairs)

    def narrow_array(self, each: Parameter) -> str:
        if self.lengths.get((self.call.base, each.name)) == "*":
            length = self.members(each)
        else:
            length = f"CountAt<{self.length_at(each)}>"
        return f"NarrowArray<{length}, {self.request()}>"


def plain(each: Parameter) -> str:
    """Returns the C++ type of a parameter that is passed on unchanged."""
    if each.type == "int*":
        return "IntPointer"
    if each.is_array or each.type not in PLAIN:
        return "Pointer"
    return PLAIN[each.type]


def is_int(each: Parameter) -> bool:
    """True if the parameter is an int, or a pointer to ints."""
    return each.type.replace("const", "").strip(" *") == "int"


# --- Fortran -------------------------------------------------------------------------------------

FORTRAN_BY_HAND = frozenset(
    [
        *("Init", "Init_thread", "Info_create_env", "Op_create", "Comm_create_keyval"),
        *("Type_create_keyval", "Win_create_keyval", "Keyval_create", "Comm_create_errhandler"),
        *("File_create_errhandler", "Win_create_errhandler", "Session_create_errhandler"),
        *("Comm_get_attr", "Win_get_attr", "Type_get_attr", "Attr_get", "Attr_put"),
        *("Grequest_start", "Register_datarep", "Comm_spawn_multiple"),
    ]
)
"""The calls whose Fortran wrappers are written in translate/fortran.cpp."""


FORTRAN_KINDS = {
    "STATUS": "fortran::Status",
    "BUFFER": "fortran::Buffer",
    "C_BUFFER2": "fortran::NoAddress",
    "WEIGHT": "fortran::Weights",
    "ATTRIBUTE_VAL": "fortran::Attribute",
}
FORTRAN_TYPES = {"INTEGER": "fortran::Int", "LOGICAL": "fortran::Logical"}


class FortranWrapper:
    """The text of one subroutine."""

    def __init__(self, call: Call, array_lengths: dict[tuple[str, str], str]) -> None:
        self.call = call
        self.parameters = (call.fortran or call.fortran_08)[:-1]
        self.lengths = array_lengths
        self.texts = [
            position for position, each in enumerate(self.parameters) if "CHARACTER" in each.type
        ]

    def text(self) -> str:
        types = [self.type_of(position) for position in range(len(self.parameters))]
        count = len(types)
        given = [f"{kind}::Program a{n}" for n, kind in enumerate(types)]
        hidden = [f"std::size_t l{n}" for n in range(len(self.texts))]
        names = [f"a{n}" for n in range(count)]
        everything = [*names, "ierror", *(f"l{n}" for n in range(len(self.texts)))]
        words = [
            f"MPIGAUGE_IN_C({self.call.name})",
            "ierror",
            f"std::tuple({', '.join(everything)})",
            *names,
        ]
        taken = ", ".join([*given, "int* ierror", *hidden])
        return self.subroutine(taken, ", ".join(types), ", ".join(words))

    def subroutine(self, taken: str, types: str, words: str) -> str:
        """Returns the text of the subroutine from its parameters, their types, and the C call."""
        name = self.call.name
        macro = "MPIGAUGE_SUBROUTINE_OF_BUFFERS" if self.has_buffers() else "MPIGAUGE_SUBROUTINE"
        cptr = f" MPIGAUGE_CPTR({name.lower()}, {name.upper()})" if self.has_pointer() else ""
        return (
            f"{macro}({name}, {name.lower()}, {name.upper()}, ({taken}), "
            f"fortran::call<{types}>({words})){cptr}"
        )

    def has_buffers(self) -> bool:
        """True if mpi_f08 passes buffers as descriptors, or receives C addresses."""
        return any(each.kind in ("BUFFER", "C_BUFFER2") for each in self.parameters)

    def has_pointer(self) -> bool:
        """True if the call returns an address that programs may take as a C pointer."""
        return any(each.kind == "C_BUFFER" for each in self.parameters)

    def length_of(self, position: int) -> int:
        """Returns the position of the length of a text, after all arguments and ierror."""
        return len(self.parameters) + 1 + self.texts.index(position)

    def type_of(self, position: int) -> str:
        """Returns the C++ type that translates an argument (translate/fortran.hpp)."""
        each = self.parameters[position]
        if each.kind in KINDS:
            return self.handle(each)
        if "CHARACTER" in each.type:
            return self.string(each, position)
        if each.kind in FORTRAN_KINDS:
            return FORTRAN_KINDS[each.kind]
        if each.name == "array_of_errcodes":
            return "fortran::Errors"
        if each.kind == "INDEX" and each.direction == "out" and self.has_requests():
            return self.index(each)
        if each.is_array or each.direction != "in" or each.kind in ("LOGICAL_VOID", "F90_STATUS"):
            return "IntPointer" if each.type in ("INTEGER", "LOGICAL") else "Pointer"
        return FORTRAN_TYPES.get(each.type, "fortran::Long")

    def string(self, each: Parameter, position: int) -> str:
        length = self.length_of(position)
        if each.kind == "STRING_ARRAY":
            return f"fortran::Arguments<{length}>"
        if each.direction == "in" or each.name == "command":
            return f"fortran::Text<{length}>"
        names = [parameter.name for parameter in self.parameters]
        flag = names.index("flag") if "flag" in names else -1
        return f"fortran::TextOut<{length}, {flag}>"

    def has_requests(self) -> bool:
        return any(each.kind == "REQUEST" and each.is_array for each in self.parameters)

    def index(self, each: Parameter) -> str:
        if not each.is_array:
            return "fortran::Index"
        return f"fortran::Indices<{self.call.position('outcount')}>"

    def handle(self, each: Parameter) -> str:
        kind = f"Kind::{KINDS[each.kind]}"
        if each.is_array:
            length = self.lengths[self.call.base, each.name]
            if length == "*":
                return f"fortran::Array<{kind}, {self.members(each)}>"
            position = self.call.position(length)
            if each.direction == "out":
                return f"fortran::ArrayOut<{kind}, {position}>"
            return f"fortran::Array<{kind}, fortran::CountAt<{position}>>"
        way = {"in": "In", "out": "Out", "inout": "InOut"}[each.direction]
        if (self.call.base, each.name) == ("Cancel", "request"):
            way = "InOut"
        return f"fortran::{way}<{kind}>"

    def members(self, each: Parameter) -> str:
        among = "ranks"
        if "eighbor" in self.call.name:
            among = "destinations" if each.name.startswith("s") else "sources"
        return f"fortran::MembersOf<{self.call.position('comm')}, Among::{among}>"


AT_ONCE = re.compile(
    r"i|.*_init$|r?(put|get|accumulate|get_accumulate)$|.*_i(read|write)|.*_begin$",
    re.IGNORECASE,
)
"""Calls that return before MPI is done with their buffers."""
OF_ONE_ELEMENT = re.compile(r"Fetch_and_op|Compare_and_swap")
RUNS = re.compile(r"gather|scatter|alltoall|reduce|scan|^P(send|recv)", re.IGNORECASE)
"""Calls whose buffers may have several parts, or numbers that are calculated with."""


class DescribedWrapper(FortranWrapper):
    """The text of one subroutine of mpi_f08 as MPICH has it: its buffers are descriptors."""

    def subroutine(self, taken: str, types: str, words: str) -> str:
        name = self.call.name
        described = any(each.kind == "BUFFER" for each in self.parameters)
        kind = "f08ts" if described else "f08"
        large = f" MPIGAUGE_LARGE_DESCRIBED({self.call.base.lower()}, {kind})"
        return (
            f"MPIGAUGE_DESCRIBED({name.lower()}, {kind}, ({taken}), "
            f"f08::described<call_{name}, {types}>({words}))"
            f"{large if name.endswith('_c') else ''}"
        )

    def type_of(self, position: int) -> str:
        each = self.parameters[position]
        if each.kind == "C_BUFFER2":
            return "f08::Returned"
        if each.kind == "BUFFER":
            return self.buffer(position)
        if (buffer := self.section_before(position, 1)) is not None:
            number = "int" if each.type == "INTEGER" else "Wide"  # "INTEGER(KIND=...)"
            return f"f08::Count<{buffer}, {number}>"
        if (buffer := self.section_before(position, 2)) is not None:
            return f"f08::Type<{buffer}, {buffer + 1}>"
        return super().type_of(position)

    def buffer(self, position: int) -> str:
        each = self.parameters[position]
        if self.is_section(position):
            return "f08::Address"
        if AT_ONCE.match(self.call.base):
            return "f08::InOnePiece"
        if OF_ONE_ELEMENT.match(self.call.base) or not self.has_counts():
            return "f08::Address"
        return f"f08::Copied<{'false' if each.direction == 'in' else 'true'}>"

    def has_counts(self) -> bool:
        """True if the call transfers data of a datatype, and does not only pass an address."""
        return any(each.kind == "DATATYPE" for each in self.parameters)

    def section_before(self, position: int, distance: int) -> int | None:
        """The buffer so far before, if its count and type are the next two parameters."""
        buffer = position - distance
        return buffer if buffer >= 0 and self.is_section(buffer) else None

    def is_section(self, position: int) -> bool:
        """True if a datatype can describe the section in this buffer: MPI uses the buffer after the
        call returns, and it is one part, followed by its own count and type."""
        following = self.parameters[position : position + 3]
        if [each.kind for each in following][::2] != ["BUFFER", "DATATYPE"]:
            return False
        if following[1].is_array or following[2].is_array:
            return False
        return bool(AT_ONCE.match(self.call.base)) and not self.has_several_parts(position)

    def has_several_parts(self, position: int) -> bool:
        base, name = self.call.base, self.parameters[position].name
        if re.search("accumulate", base, re.IGNORECASE):
            return False
        one = {"gather": "sendbuf", "scatter": "recvbuf"}
        for what, buffer in one.items():
            if what in base.lower() and "reduce" not in base.lower():
                return name != buffer
        return bool(RUNS.search(base))


def fortran_text(calls: list[Call]) -> str:
    array_lengths = lengths()
    lines = [FortranWrapper(call, array_lengths).text() for call in calls if is_subroutine(call)]
    return "\n".join([*HEAD, *in_parts(lines), ""])


def described_text(calls: list[Call]) -> str:
    """Returns the wrappers of mpi_f08 in MPICH that are not those of mpif.h by another name."""
    array_lengths = lengths()
    wrappers = [
        DescribedWrapper(call, array_lengths) for call in calls if is_subroutine_of_f08(call)
    ]
    lines = [each.text() for each in wrappers if each.has_buffers() or each.call.fortran_08]
    return "\n".join([*HEAD, *in_parts(lines), ""])


def is_subroutine(call: Call) -> bool:
    names = [each.name for each in call.fortran]
    if "ierror" not in names or call.base in FORTRAN_BY_HAND:
        return False
    return not call.name.startswith(("T_", "Status_f", "Status_c"))


def is_subroutine_of_f08(call: Call) -> bool:
    return is_subroutine(call) or bool(call.fortran_08 and call.base not in FORTRAN_BY_HAND)


def declarations_text(calls: list[Call]) -> str:
    """The functions of C that subroutines call."""
    array_lengths = lengths()
    lines = []
    for call in calls:
        declared = is_wrapped(call) or call.name in ANSWERED
        if declared and "ierror" in [each.name for each in call.fortran or call.fortran_08]:
            wrapper = Wrapper(call, None, array_lengths)
            types = [f"{wrapper.type_of(n)}::Program" for n in range(len(call.parameters))]
            lines.append(f"MPIGAUGE_DECLARED({call.name}, ({', '.join(types)}))")
    return "\n".join([*HEAD, *lines, ""])


# --- files ---------------------------------------------------------------------------------------


PARTS = 8
"""Files that functions are compiled in, so that several compilers can be at work."""


def in_parts(lines: list[str]) -> list[str]:
    made = []
    size = -(-len(lines) // PARTS)
    for part in range(PARTS):
        made += [f"#if MPIGAUGE_PART == {part}", *lines[part * size : (part + 1) * size], "#endif"]
    return made


def is_wrapped(call: Call) -> bool:
    """False for handle conversions and calls without an error code, which are written by hand."""
    if call.returns != "int" or call.base in BY_HAND | ANSWERED:
        return False
    return not re.search(r"^Status_.*2|_(c2f|f2c|toint|fromint)$", call.name)


def calls_text(calls: list[Call]) -> str:
    array_lengths = lengths()
    by_name = {call.name: call for call in calls}
    lines = []
    for call in calls:
        if is_wrapped(call):
            small = by_name[call.base] if call.name.endswith("_c") else None
            lines.append(Wrapper(call, small, array_lengths).text())
    return "\n".join([*HEAD, *in_parts(lines), ""])


def names_text(calls: list[Call]) -> str:
    removed = read_notes(ROOT / NOTES).removed
    names = sorted({call.name for call in calls} | set(removed))
    return "\n".join([*HEAD, *(f"MPIGAUGE_NAME({name})" for name in names), ""])


def constants_text() -> str:
    table = tomli.loads((ROOT / CONSTANTS).read_text(encoding="utf-8"))
    table["handle"]["datatype"] |= EXTENSIONS
    lines = [*handle_lines(table["handle"]), *integer_lines(table["integer"])]
    return "\n".join([*HEAD, *lines, *object_lines(table), ""])


def handle_lines(table: dict[str, dict[str, dict[str, str]]]) -> Iterator[str]:
    for kind, entries in table.items():
        for name in sorted(entries, key=lambda name: not name.endswith("_NULL")):
            value = entries[name]
            symbol = f'"{value["ompi"]}"' if "ompi" in value else "nullptr"
            words = (value.get("mpich", "no_value"), symbol, value.get("std", "no_value"))
            yield f"MPIGAUGE_HANDLE({kind}, {name}, {', '.join(words)})"


def integer_lines(table: dict[str, dict[str, dict[str, int]]]) -> Iterator[str]:
    for group, entries in table.items():
        for name, value in entries.items():
            words = ", ".join(str(value.get(abi, "no_integer")) for abi in ABIS)
            yield f"MPIGAUGE_INTEGER({group}, {name}, {words})"


def object_lines(table: dict[str, Any]) -> Iterator[str]:
    """The objects of Open MPI, each with its kind and the entry that it stands for: of several the
    one that most ABIs have."""
    numbers = {"MPI_FILE_NULL": 0, "MPI_SESSION_NULL": 0, "MPI_ERRORS_ABORT": 3}
    numbers |= dict.fromkeys(EXTENSIONS, -1)
    numbers |= {name: value["ompi"] for name, value in table["fortran"].items()}
    entries = [
        (kind, name, values)
        for kind, of_kind in table["handle"].items()
        for name, values in sorted(of_kind.items(), key=lambda each: not each[0].endswith("_NULL"))
    ]
    for symbol in dict.fromkeys(values["ompi"] for *_, values in entries if "ompi" in values):
        sharing = [n for n, (*_, values) in enumerate(entries) if values.get("ompi") == symbol]
        entry = max(sharing, key=lambda n: len(entries[n][2]))
        kind, name, _ = entries[entry]
        yield f"MPIGAUGE_OBJECT({kind}, {symbol}, {entry}, {numbers[name]})"


def files() -> dict[str, str]:
    calls = read_standard()
    return {
        "translate/constants.inc": constants_text(),
        "translate/names.inc": names_text(calls),
        "translate/calls.inc": calls_text(calls),
        "translate/declarations.inc": declarations_text(calls),
        "translate/fortran.inc": fortran_text(calls),
        "translate/f08.inc": described_text(calls),
    }


def main(words: list[str]) -> int:
    for made, text in files().items():
        path: Any = ROOT / made
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in words:
            print(f"{made} is out of date; run: python tools/mpi_translation.py", file=sys.stderr)
            return 1
        path.write_text(text, encoding="utf-8")
        print(f"wrote {made}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
