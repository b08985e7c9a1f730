# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks the access of requests: they need the token and a host name of this machine.

All users of the machine can connect to its loopback, so the address contains a token. A foreign
page in the same browser may have its own name resolve to this machine (DNS rebinding); its requests
still have that name as their host, and are refused.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import parse_qs, unquote, urlsplit

from mpigauge.show.web.page import OWN, own

LOCAL = ("localhost",)
_BYTES = 24
_LONGEST = 16_384
"""The maximum length of an address: enough to compare runs with very long names."""


@dataclass(frozen=True)
class PageRequest:
    """The path and query of an accepted request."""

    path: tuple[str, ...]
    """The parts of the path after the token, without empty ones."""
    query: Mapping[str, list[str]]


@dataclass(frozen=True)
class Refused:
    status: int
    why: str


@dataclass(frozen=True)
class Access:
    token: str
    names: tuple[str, ...] = LOCAL
    """The host names that requests may use, in addition to loopback addresses."""
    any_address: bool = False
    """True if any numeric address is accepted as host: it involves no name resolution."""

    def asked(self, target: str, hosts: Sequence[str]) -> PageRequest | Refused:
        """Parses a request, or refuses it. `target`: its target; `hosts`: its Host headers."""
        if len(hosts) != 1 or not self._is_ours(_name(hosts[0])):
            return Refused(403, "this machine is not called so")
        if len(target) > _LONGEST:
            return Refused(414, "this address is too long")
        path, _, query = target.partition("?")
        start, *parts = path.split("/")
        if start or not parts or not _alike(parts[0], self.token):
            return Refused(403, "the address lacks the token that `mpigauge browse` has printed")
        try:
            fields = parse_qs(query, max_num_fields=1000)
        except ValueError:
            return Refused(400, "this address holds too much")
        return PageRequest(tuple(_unquoted(part) for part in parts[1:] if part), fields)

    def _is_ours(self, name: str) -> bool:
        try:
            address: IPv4Address | IPv6Address = ip_address(name)
        except ValueError:
            return name.lower().rstrip(".") in self.names
        return self.any_address or address.is_loopback


def new_token() -> str:
    return secrets.token_urlsafe(_BYTES)


def headers() -> dict[str, str]:
    """Returns the headers of every response: the page may only use our script and style, and must
    not be framed, cached, or passed on as referrer."""
    policy = "; ".join((
        "default-src 'none'",
        f"style-src '{_digest(OWN['style'])}'",
        f"script-src '{_digest(OWN['script'])}'",
        "img-src data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ))  # fmt: skip
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def _digest(file: str) -> str:
    digest = hashlib.sha256(own(file).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _alike(one: str, other: str) -> bool:
    """Compares two strings in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "surrogateescape"), other.encode())


def _name(host: str) -> str:
    """Returns the name in a Host header, without its port; empty if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _unquoted(part: str) -> str:
    return unquote(part, errors="surrogateescape")
