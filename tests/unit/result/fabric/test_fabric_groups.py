# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Groups of hosts: from Slurm's topology.conf, from a file of ours, from measured distances."""

from pathlib import Path

import numpy as np
import pytest

from mpigauge.model.errors import UserError
from mpigauge.result.fabric.groups import (
    Group,
    group_of_hosts,
    measured_groups,
    parse_groups,
    read_groups,
)

HOSTS = ("n1", "n2", "n3", "n4")
TREE = """\
# the switches of a cluster
SwitchName=leaf1 Nodes=n[1-2],login LinkSpeed=100
switchname=leaf2 \\
    nodes = n[3-4],other[001-200]
SwitchName=leaf3 Nodes=spare[1-4]
SwitchName=spine Switches=leaf[1-3]
"""
BLOCKS = """\
BlockName=b1 Nodes=n[1,4]
BlockName=b2 Nodes=n[2-3],x[1-16]
BlockSizes=2,4
"""


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (TREE, (Group("leaf1", (0, 1)), Group("leaf2", (2, 3)))),
        (BLOCKS, (Group("b1", (0, 3)), Group("b2", (1, 2)))),
        ("r 1: n[1-3] # three\n\nb: n4\n", (Group("r 1", (0, 1, 2)), Group("b", (3,)))),
        ("a: n1.site.org,n2\nb: n[3-4]", (Group("a", (0, 1)), Group("b", (2, 3)))),
    ],
)  # fmt: skip
def test_hosts_of_a_job_by_group(text: str, groups: tuple[Group, ...]) -> None:
    assert parse_groups(text, "file", HOSTS) == groups


def test_names_with_and_without_a_domain() -> None:
    hosts = ("n1.a.org", "n2.a.org", "10.0.0.1")
    groups = parse_groups("a: n1,10.0.0.1\nb: n2.a.org", "file", hosts)
    assert group_of_hosts(groups) == (0, 1, 0)


RIGHT = "a line is a group and its hosts, such as 'rack1: a,b[01-04]'"
ONE = "SwitchName=s1 Nodes=n[1-4]"
WRONG = {
    "a: n[1-3]\nb: n[3-4]": "2: host n3 is in a (line 1) and in b; name it once, in one group",
    "a: n[1-4],n2": "1: host n2 is twice in a; name it once, in one group",
    "a: n[1-4]\nb: n44": "2: host n44 is not in this job; did you mean 'n4'?",
    "a: n[1-4]\nb: zz": "2: host zz is not in this job; its hosts are n[1-4]",
    "a: n1\na: n2": "2: group a has a line already (line 1); write all of its hosts in one",
    "n1 n2": f"1: 'n1 n2' is not a group with its hosts; {RIGHT}",
    "a: n1:4,n[2-4]": f"1: n1:4 has a number of ranks; {RIGHT}",
    "a: n[1-": "1, n[1-, column 2: this '[' has no partner; write hosts such as "
    "a,b[01-04] or a:2,b:2",
    f"{ONE}\nSwitchName=s2 Nodes=n4": "2: host n4 is in s1 (line 1) and in s2; name it once, "
    "in one group",
    f"{ONE}\nSwitchName=s2 Switches=s3": "2: there is no switch 's3'; there are s1, s2",
    f"{ONE}\nSwitchName=s1 Nodes=m1": "2: s1 has a line already (line 1)",
    "SwitchName=s1 Node=n1": "1: 'Node=n1' is no word of topology.conf; did you mean 'Nodes'?",
    "SwitchName=s1": "1: s1 has no Nodes= and no Switches=",
    "SwitchName=s1 Nodes=": "1: Nodes needs one value",
    f"Nodes=n1\n{ONE}": "1: there is no SwitchName= or BlockName= in 'Nodes=n1'",
}
MISSING = {
    "a: n[1-2]": "no group has n[3-4]; write a line such as 'NAME: n[3-4]'",
    "": "no group has n[1-4]; write a line such as 'NAME: n[1-4]'",
    "SwitchName=s1 Nodes=n[1-3]": "no switch or block of it has n4; write a line such as "
    "'SwitchName=NAME Nodes=n4'",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_line_is_refused(text: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_groups(text, "file", HOSTS)
    assert str(raised.value) == f"--groups: file, line {WRONG[text]}"


@pytest.mark.parametrize("text", MISSING)
def test_a_host_in_no_group_is_refused(text: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_groups(text, "file", HOSTS)
    assert str(raised.value) == f"--groups: file: {MISSING[text]}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no file .*nothing; name Slurm's topology.conf"):
        read_groups(tmp_path / "nothing", HOSTS)


def _distances(groups: list[int], ratio: float, noise: float, seed: int) -> np.ndarray:
    """Distances between hosts of these groups: 1 within a group, `ratio` between two."""
    random = np.random.default_rng(seed)
    label = np.asarray(groups)
    between = np.where(label[:, None] == label[None], 1.0, ratio)
    between *= random.lognormal(0, noise, between.shape)
    np.fill_diagonal(between, 0)
    return between


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "groups",
    [[0, 0, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 2, 2, 2, 2], [*range(8)] * 8],
    ids=len,
)
def test_measured_groups_are_those_of_the_network(groups: list[int], seed: int) -> None:
    between = _distances(groups, 1.6, 0.05, seed)
    assert list(group_of_hosts(measured_groups(between))) == groups


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 32])
def test_hosts_at_one_switch_are_one_group(count: int, seed: int) -> None:
    between = _distances([0] * count, 1, 0.1, seed)
    assert measured_groups(between) == (Group("group 1", tuple(range(count))),)


def test_a_slow_host_is_no_group() -> None:
    between = _distances([0, 0, 0, 0, 1, 1, 1, 1], 2, 0.02, 1)
    between[2] *= 3
    between[:, 2] *= 3
    assert list(group_of_hosts(measured_groups(between))) == [0, 0, 0, 0, 1, 1, 1, 1]
    alone = _distances([0] * 8, 1, 0.02, 1)
    alone[2] *= 3
    alone[:, 2] *= 3
    assert len(measured_groups(alone)) == 1


def test_distances_that_are_not_measured() -> None:
    between = _distances([0, 0, 0, 1, 1, 1], 2, 0.02, 1)
    between[0, 1] = between[4, 3] = between[3, 4] = np.nan
    assert list(group_of_hosts(measured_groups(between))) == [0, 0, 0, 1, 1, 1]


def test_hosts_near_to_the_same_one_are_near_to_each_other() -> None:
    """Two of the six pairs of a group were not measured, and others vary."""
    between = _distances([0, 0, 0, 0, 1, 1, 1, 1], 2, 0.1, 1)
    for pair in ((0, 3), (1, 2), (5, 7)):
        between[pair] = between[pair[::-1]] = np.nan
    assert list(group_of_hosts(measured_groups(between))) == [0, 0, 0, 0, 1, 1, 1, 1]
