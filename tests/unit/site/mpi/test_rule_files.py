# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files of rules: what is written is read back as the MPI reads it, for 10⁴ random calls."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.model.rules import MOST_BYTES as END
from mpigauge.model.rules import Rule, candidate_at
from mpigauge.site.mpi.rule_files import intel, mpich, openmpi
from mpigauge.site.mpi.rule_files.candidates import candidates_of, collectives_of
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS, refusal_of

CALLS = 10_000
MOST_BYTES = 4 << 20


NAMES = (*(name.lower() for name in collectives_of("mpich")), "barrier")


def trees() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Trees of the shape of MPICH's: by ranks, by sizes, by the kind of call."""

    def leaf(kind: str, name: str) -> dict[str, Any]:
        return {f"{kind}={name}": {}}

    def device(name: str) -> dict[str, Any]:
        flat = leaf("composition", f"MPIDI_{name}_flat")
        by_size = {"avg_msg_size<=512": flat, "avg_msg_size=any": leaf("composition", "MPIDI_two")}
        parent = {"comm_hierarchy=parent": flat, "comm_hierarchy=any": by_size}
        return {"comm_type=intra": {"comm_size=node_comm_size": by_size, "comm_size=any": parent}}

    def general(name: str) -> dict[str, Any]:
        short, long = (
            leaf("algorithm", f"MPIR_{name}_short"),
            leaf("algorithm", f"MPIR_{name}_long"),
        )
        odd = {
            "is_op_built_in=no": short,
            "is_op_built_in=yes": {"count<pow2": short, "count=any": long},
        }
        even = {"total_msg_size<4096": short, "total_msg_size=any": odd}
        return {
            "comm_type=intra": {"comm_size=pow2": even, "comm_size<6": odd, "comm_size=any": short},
            "comm_type=inter": leaf("algorithm", f"MPIR_{name}_inter"),
        }

    posix = {
        "collective=bcast": {"comm_type=intra": leaf("algorithm", "MPIDI_POSIX_release_gather")}
    }
    return (
        posix,
        {f"collective={name}": device(name) for name in NAMES},
        {f"collective={name}": general(name) for name in NAMES},
    )


def library(folder: Path) -> Path:
    """A file that holds trees as libmpi of MPICH 5.0 does, among other bytes."""
    texts = [json.dumps(tree, separators=(",", ":")).encode() for tree in trees()]
    file = folder / "libmpi.so.12"
    file.write_bytes(b"\x7fELF" + b"\0".join([b"", *texts, b'{"collective= is not a tree', b""]))
    return file


def an_mpi(name: str, version: str, file: Path) -> Mpi:
    return Mpi(
        name=name,
        version=version,
        standard="4.1",
        library=file,
        library_string="",
        abi="mpich" if name == "mpich" else "ompi",
        launcher="hydra" if name == "mpich" else "openmpi",
        mpiexec=Path("/nowhere/bin/mpiexec"),
        prefix=Path("/nowhere"),
        include=None,
        env={},
        found="",
    )


@pytest.fixture
def mpich_here(tmp_path: Path) -> Mpi:
    return an_mpi("mpich", "5.0.2", library(tmp_path))


OPEN_MPI = an_mpi("openmpi", "5.0.11", Path("/nowhere/lib/libmpi.so.40"))
INTEL = an_mpi("intel", "2021.18.1", Path("/nowhere/lib/libmpi.so.12"))


def some_rules(mpi: str, rng: random.Random) -> list[Rule]:
    """Of some collectives, for some numbers of ranks, three each, some of one size only, some that
    follow each other at once; among one host or several."""
    found = []
    for collective in rng.sample(collectives_of(mpi), 3):
        for ranks in rng.sample(range(2, 9), 2):
            fitting = [
                each
                for each in candidates_of(mpi)
                if each.collective == collective and each.fits(ranks)
            ]
            ends = sorted(rng.sample(range(MOST_BYTES), 6))
            ends[2] = rng.choice((ends[2], ends[1] + 1))
            hosts = rng.choice((1, 2))
            for first, last in zip(ends[::2], ends[1::2], strict=True):
                begin = rng.choice((first, last))
                name = rng.choice(fitting).name
                found.append(Rule(collective, ranks, begin, last, name, hosts))
    return found


def a_call(rules: list[Rule], mpi: str, rng: random.Random) -> tuple[str, int, int]:
    """Half of them at an end of a rule, or a byte beside it."""
    if rng.random() < 0.5:
        rule = rng.choice(rules)
        end = rng.choice((rule.first_bytes, rule.last_bytes)) + rng.choice((-1, 0, 1))
        return rule.collective, rule.ranks + rng.choice((0, 0, 0, 1)), max(end, 0)
    bytes_ = int(2 ** rng.uniform(0, 22))
    return rng.choice(collectives_of(mpi)), rng.randint(2, 9), bytes_


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_what_is_written_is_what_was_chosen(name: str, mpich_here: Mpi) -> None:
    mpi = mpich_here if name == "mpich" else OPEN_MPI
    rng = random.Random(17)
    form = RULE_FORMATS[name]
    for _ in range(10):
        rules = some_rules(name, rng)
        written, wanted = form.read(mpi, form.write(mpi, rules)), form.expected(mpi, rules)
        for _ in range(CALLS // 10):
            call = a_call(rules, name, rng)
            assert written(*call) == wanted(*call), (call, rules)


def test_without_rules_mpich_gets_its_own_trees(mpich_here: Mpi) -> None:
    texts = RULE_FORMATS["mpich"].write(mpich_here, [])
    assert {name: json.loads(text) for name, text in texts.items()} == mpich.trees_of(
        mpich_here.library
    )


def test_the_trees_are_found_by_what_is_in_them(mpich_here: Mpi) -> None:
    _, device, general = trees()
    found = mpich.trees_of(mpich_here.library)
    assert found == {mpich.DEVICE: device, mpich.GENERAL: general}


def test_all_collectives_stay_in_the_trees(mpich_here: Mpi) -> None:
    """One that is left out ends the program at its first call."""
    rules = some_rules("mpich", random.Random(1))
    texts = RULE_FORMATS["mpich"].write(mpich_here, rules)
    for name, tree in mpich.trees_of(mpich_here.library).items():
        assert list(json.loads(texts[name])) == list(tree)


def branches(tree: dict[str, dict[str, object]]) -> list[list[str]]:
    """The keys of every node that is not a leaf."""
    found = [list(tree)] if tree else []
    for below in tree.values():
        found += branches(below)  # type: ignore[arg-type]
    return found


def test_every_range_of_sizes_ends_with_any(mpich_here: Mpi) -> None:
    """Else MPICH ends the program when it starts."""
    texts = RULE_FORMATS["mpich"].write(mpich_here, some_rules("mpich", random.Random(2)))
    for text in texts.values():
        for keys in branches(json.loads(text)):
            if any("_size<" in key for key in keys):
                assert keys[-1].endswith("=any")


def test_what_an_algorithm_cannot_do_is_left_to_the_default(mpich_here: Mpi) -> None:
    rule = Rule("Allreduce", 2, 1024, 4096, "reduce_scatter_allgather")
    general = json.loads(RULE_FORMATS["mpich"].write(mpich_here, [rule])["general.json"])
    node = general["collective=allreduce"]["comm_type=intra"]
    usual = node["comm_size=any"]
    tuned = node["comm_size<=2"]["is_multi_threaded=no"]["avg_msg_size<=4096"]
    assert node["comm_size<=2"]["is_multi_threaded=yes"] == usual
    assert tuned["is_commutative=no"] == usual
    assert tuned["is_commutative=yes"]["is_op_built_in=no"] == usual
    assert tuned["is_commutative=yes"]["is_op_built_in=yes"]["count<pow2"] == usual


def test_rules_of_mpich_hold_at_the_thread_level_that_they_were_measured_at(
    mpich_here: Mpi,
) -> None:
    rng, form = random.Random(5), RULE_FORMATS["mpich"]
    rules = some_rules("mpich", rng)
    for several in (False, True):
        texts = form.write(mpich_here, rules, several)
        there, elsewhere = (form.read(mpich_here, texts, level) for level in (several, not several))
        tuned = form.expected(mpich_here, rules, several)
        usual = form.expected(mpich_here, [], not several)
        for _ in range(1000):
            call = a_call(rules, "mpich", rng)
            assert there(*call) == tuned(*call), call
            assert elsewhere(*call) == usual(*call), call


def test_a_library_without_trees_gets_no_file(tmp_path: Path) -> None:
    empty = tmp_path / "libmpi.so.12"
    empty.write_bytes(b"nothing of the kind")
    assert "holds 0 trees of rules" in refusal_of(an_mpi("mpich", "5.0.2", empty))


@pytest.mark.parametrize(
    ("name", "version", "why"),
    [
        ("mpich", "4.3.2", "known for MPICH 5.0"),
        ("mpich", "6.0.0", "known for MPICH 5.0"),
        ("openmpi", "6.0.0", "known for Open MPI 4.1 and 5.0"),
        ("openmpi", "3.1.6", "known for Open MPI 4.1 and 5.0"),
        ("intel", "2021.17.0", "known for Intel MPI 2021.18"),
        ("intel", "2022.1.0", "known for Intel MPI 2021.18"),
        ("mvapich", "4.0", "written for intel and mpich and openmpi"),
    ],
)
def test_versions_that_we_do_not_know_get_no_file(
    name: str, version: str, why: str, tmp_path: Path
) -> None:
    assert why in refusal_of(an_mpi(name, version, tmp_path / "libmpi.so"))


def test_versions_that_we_know_get_one(mpich_here: Mpi) -> None:
    assert refusal_of(mpich_here) == ""
    assert refusal_of(OPEN_MPI) == ""
    assert refusal_of(an_mpi("openmpi", "4.1.4", Path("/x"))) == ""
    assert refusal_of(INTEL) == ""


def test_open_mpi_s_file() -> None:
    rules = [
        Rule("Allreduce", 2, 1024, 4096, "recursive_doubling"),
        Rule("Alltoall", 4, 0, 511, "pairwise"),
    ]
    text = RULE_FORMATS["openmpi"].write(OPEN_MPI, rules)[openmpi.FILE]
    bare = [line.partition("#")[0].strip() for line in text.splitlines()]
    assert bare == [
        "2",
        "2", "3", "0", "1", "0 0 0 0", "2", "3", "0 0 0 0", "1024 3 0 0", "4097 0 0 0",
        "3", "1", "0 0 0 0",
        "3", "3", "0", "1", "0 0 0 0", "4", "2", "0 2 0 0", "2048 0 0 0", "5", "1", "0 0 0 0",
    ]  # fmt: skip


def test_open_mpi_s_file_for_collectives_among_hosts(tmp_path: Path) -> None:
    """Each is left to coll_tuned where it has a rule; what coll_han does not do needs none."""
    form = RULE_FORMATS["openmpi"]
    rules = [
        Rule("Allreduce", 8, 1024, 2047, "ring", hosts=4),
        Rule("Allreduce", 8, 2048, 4095, "recursive_doubling", hosts=4),
        Rule("Alltoall", 8, 0, 511, "pairwise", hosts=4),
        Rule("Bcast", 2, 0, 511, "binomial"),
    ]
    texts = form.write(OPEN_MPI, rules)
    bare = [line.partition("#")[0].strip() for line in texts[openmpi.HAN_FILE].splitlines()]
    assert bare == [
        "1", "allreduce", "1", "global_communicator", "3",
        "1", "1", "0 han",
        "8", "3", "0 han", "1024 tuned", "4096 han",
        "9", "1", "0 han",
    ]  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    told = form.settings(tmp_path)
    assert told["coll_han_dynamic_rules_filename"] == str(tmp_path / openmpi.HAN_FILE)
    (tmp_path / openmpi.HAN_FILE).unlink()
    assert not [name for name in form.settings(tmp_path) if "han" in name]
    assert form.measured_among("Allreduce", 1) == {}
    assert form.measured_among("Alltoall", 2) == {}
    assert form.measured_among("Allreduce", 2) == {
        "coll_han_allreduce_dynamic_global_communicator_module": "3"
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'' stands where a number should"),
        ("1 scan 1 global_communicator 1 1 1 0 han", "'scan' stands where one of allgather, "),
        ("1 bcast 2 global_communicator 1 1 1 0 han", "more than one level"),
        ("1 bcast 1 intra_node 1 1 1 0 han", "'intra_node' stands where"),
        ("1 bcast 1 global_communicator 1 2 1 0 han", "do not ascend from 1"),
        ("1 bcast 1 global_communicator 1 1 1 8 han", "do not ascend from 0"),
        ("1 bcast 1 global_communicator 1 1 1 0 sm", "'sm' stands where one of han, tuned"),
        ("1 bcast 1 global_communicator 1 1 1 0 han 7", "goes on after the last rule"),
    ],
)
def test_what_coll_han_would_pass_over_in_silence_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        openmpi.read_han_rules(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'' stands where a number should"),
        ("1 2 1 2 1 1024 3 0 0", "do not ascend from 0"),
        ("1 2 1 2 3 0 0 0 0 1024 3 0 0 512 0 0 0", "do not ascend from 0"),
        ("1 2 2 4 1 0 0 0 0 2 1 0 0 0 0", "communicator sizes do not ascend"),
        ("1 2 1 2 1 0 3 0", "'' stands where"),
        ("1 2 1 2 1 0 ring 0 0", "'ring' stands where"),
        ("1 2 1 2 1 0 3 0 0 7", "goes on after the last rule"),
    ],
)
def test_what_open_mpi_would_pass_over_in_silence_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        openmpi.read_rules(text)


# --- Intel MPI's variables ------------------------------------------------------------------------
def rules_for_all_sizes(ranks: int, rng: random.Random) -> list[Rule]:
    """Of three collectives, one to four each, from no bytes to the end."""
    found = []
    for collective in rng.sample(collectives_of("intel"), 3):
        presets = [each.name for each in candidates_of("intel") if each.collective == collective]
        starts = [0, *sorted(rng.sample(range(1, MOST_BYTES), rng.randint(0, 3)))]
        ends = [*(start - 1 for start in starts[1:]), END]
        found += [
            Rule(collective, ranks, start, end, rng.choice(presets))
            for start, end in zip(starts, ends, strict=True)
        ]
    return found


def test_intel_s_variables_say_what_was_chosen() -> None:
    rng, form = random.Random(17), RULE_FORMATS["intel"]
    for ranks in range(2, 12):
        rules = rules_for_all_sizes(ranks, rng)
        written, wanted = form.read(INTEL, form.write(INTEL, rules)), form.expected(INTEL, rules)
        for _ in range(CALLS // 10):
            call = a_call(rules, "intel", rng)
            assert written(*call) == wanted(*call), (call, rules)


def test_intel_s_ranges_cover_all_sizes_without_a_gap() -> None:
    rules = [
        Rule("Bcast", 2, 0, 1023, "preset_1"),
        Rule("Bcast", 2, 1024, END, "preset_8"),
        Rule("Reduce_scatter", 2, 0, 1023, "preset_2"),
        Rule("Reduce_scatter", 2, 1024, END, "preset_3"),
    ]
    text = RULE_FORMATS["intel"].write(INTEL, rules)[intel.FILE]
    assert text.splitlines() == [
        "I_MPI_ADJUST_BCAST=1:0-1023;8:1024-2147483647",
        "I_MPI_ADJUST_REDUCE_SCATTER=2:0-2047;3:2048-2147483647",
    ]


def test_intel_s_settings_are_those_of_the_file(tmp_path: Path) -> None:
    form = RULE_FORMATS["intel"]
    rules = [Rule("Bcast", 2, 0, END, "preset_1")]
    (tmp_path / intel.FILE).write_text(form.write(INTEL, rules)[intel.FILE])
    assert form.settings(tmp_path) == {"I_MPI_ADJUST_BCAST": "1:0-2147483647"}
    said = "[0] MPI startup(): I_MPI_ADJUST_BCAST=1:0-2147483647\n"
    assert form.has_read(tmp_path, said)
    assert not form.has_read(tmp_path, "")
    ignored = "Incorrect algorithm I_MPI_ADJUST_BCAST=1:0-2147483647 will be ignored"
    assert not form.has_read(tmp_path, said + ignored)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("8:0-1024", "would not end"),
        ("5:512-2048;8:0-1024", "does not go on from 0"),
        ("1:0-1024;8:1024-2147483647", "does not go on from 1025"),
        ("1:0-1024;8:2048-2147483647", "does not go on from 1025"),
        ("1:2000-1000", "does not go on"),
        ("1:0-1Ki", "is not a preset with a range"),
        ("garbage", "is not a preset with a range"),
        ("", "is not a preset with a range"),
        ("8:0-1024@4-8", "is not a preset with a range"),
    ],
)
def test_what_intel_would_take_otherwise_is_refused(value: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        intel.read_ranges(value)


def test_a_line_that_is_no_variable_of_intel_s_is_refused() -> None:
    with pytest.raises(ValueError, match="sets no I_MPI_ADJUST_"):
        intel.read_variables("LD_PRELOAD=/tmp/x.so")


@pytest.mark.parametrize("name", ["intel", "mpich", "openmpi"])
def test_candidates_are_told_apart_by_their_names(name: str) -> None:
    names = [(each.collective, each.name) for each in candidates_of(name)]
    assert len(set(names)) == len(names)


def test_a_candidate_is_for_the_ranks_that_it_can_work_among() -> None:
    by_name = {
        each.name: each for each in candidates_of("openmpi") if each.collective == "Allgather"
    }
    assert [n for n in range(1, 9) if by_name["recursive_doubling"].fits(n)] == [1, 2, 4, 8]
    assert [n for n in range(1, 9) if by_name["two_proc"].fits(n)] == [2]
    assert [n for n in range(1, 9) if by_name["neighbor"].fits(n)] == [2, 4, 6, 8]
    assert by_name["ring"].fits(7)


def test_no_rule_means_the_default() -> None:
    rules = [Rule("Bcast", 2, 8, 64, "binomial")]
    assert candidate_at(rules, "Bcast", 2, 64) == "binomial"
    assert candidate_at(rules, "Bcast", 2, 65) == ""
    assert candidate_at(rules, "Bcast", 3, 64) == ""
    assert candidate_at(rules, "Allreduce", 2, 64) == ""


def test_a_rule_is_stored_whole() -> None:
    rule = Rule("Bcast", 2, 8, 64, "binomial")
    assert Rule.from_json(json.loads(json.dumps(rule.to_json()))) == rule
