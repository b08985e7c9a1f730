# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Chooses how launches of the program are started, and the hosts whose files are fetched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mpigauge.measuring.plan import read_request
from mpigauge.products.profile.launch.launching import user_line
from mpigauge.products.profile.launch.ours import started_by_us
from mpigauge.session.lookups import look_up
from mpigauge.session.setup import agent_of, target_of
from mpigauge.session.targets import CommandOptions
from mpigauge.site import batch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.measuring.jobs.agent import Agent
    from mpigauge.products.profile.launch.profiling import Starter
    from mpigauge.session.targets import Setup


def starter_for(words: tuple[str, ...], setup: Setup | None, here: Mapping[str, str]) -> Starter:
    """Returns a function that makes a launch whose ranks get the given variables."""
    if setup is None:
        return lambda variables: user_line(words, variables, here)
    return lambda variables: started_by_us(words, setup, variables, here)


def agent_for(setup: Setup | None, rsh: str | None) -> Agent:
    """Returns the agent that fetches the files of ranks from other hosts."""
    if setup:
        request = setup.request
    else:
        args = {"rsh": rsh}
        request = read_request(args, look_up(args))
    return agent_of(target_of(request, CommandOptions()))


def hosts_of(setup: Setup | None) -> tuple[str, ...]:
    """Returns the hosts of the current batch job, as a launcher may have used any of them."""
    names = [host.name for host in batch.hosts(batch.here(os.environ))]
    if setup:
        names = [node.name for node in setup.nodes] + names
    return tuple(names)
