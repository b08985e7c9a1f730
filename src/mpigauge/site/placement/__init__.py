# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The assignment of ranks to hosts and cores. Pure: kernels bind themselves.

A policy is one file in policies/ with `@policy("name", ...)` over a function from a request to the
seats of ranks. There is no list to edit.
"""

from __future__ import annotations

from mpigauge.site.placement.blocks import blocks, in_turn
from mpigauge.site.placement.cores import check_alone, cores_of, parse_entries
from mpigauge.site.placement.even import even, room, share_out
from mpigauge.site.placement.host_resources import HostResources
from mpigauge.site.placement.in_one_job import in_one_job
from mpigauge.site.placement.registry import POLICIES, files_in, place, words

__all__ = [
    "POLICIES",
    "HostResources",
    "blocks",
    "check_alone",
    "cores_of",
    "even",
    "files_in",
    "in_one_job",
    "in_turn",
    "parse_entries",
    "place",
    "room",
    "share_out",
    "words",
]
