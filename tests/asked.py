# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Requests as the command line makes them of its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mpigauge.measuring.plan import Request, read_request
from mpigauge.session.lookups import look_up


def request(raw: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Request:
    """What options name outside of themselves is looked up here, but for the environment."""
    return read_request(raw, replace(look_up(raw), environment=environment or {}))
