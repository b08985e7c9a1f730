# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The HTTP server: checks access, sends pages, and prints its address."""

from __future__ import annotations

import getpass
import socket
import traceback
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError
from mpigauge.products.browse.access import LOCAL, Access, Refused, headers
from mpigauge.products.browse.addresses import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.products.browse.addresses import Pages

LOOPBACK = "127.0.0.1"
_HTML, _TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
_NO_SUCH_METHOD, _ONLY_GET = 501, 405
_SLOW_S = 30.0


class Server(ThreadingHTTPServer):
    """A server of one site. A hanging request does not prevent its end."""

    daemon_threads = True

    def __init__(self, host: str, port: int, access: Access, site: Pages) -> None:
        """Binds the server. UserError: it cannot listen at this address."""
        self.access, self.site = access, site
        self.headers = headers()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Request)
        except (OSError, OverflowError) as error:
            why = error.strerror if isinstance(error, OSError) else "there is no such port"
            hint = "; leave --port out for one that is free" if port else ""
            raise UserError(f"cannot listen at {host} port {port}: {why}{hint}") from None

    def server_bind(self) -> None:
        """Binds the socket without the reverse name lookup of the base class."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def answer(self, target: str, hosts: list[str]) -> Page | Refused:
        asked = self.access.asked(target, hosts)
        if isinstance(asked, Refused):
            return asked
        try:
            return self.site.page(asked)
        except Exception as error:
            traceback.print_exc()
            return self.site.failed(asked, error)


class _Request(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "mpigauge", ""
    timeout = _SLOW_S

    def do_GET(self) -> None:
        reply = self.server.answer(self.path, self.headers.get_all("Host") or [])
        if isinstance(reply, Refused):
            self._send(reply.status, _TEXT, f"{reply.status}: {reply.why}\n")
        else:
            self._send(reply.status, _HTML, reply.text)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Sends an error for an unsupported request, with the message of the base class."""
        del explain
        if code == _NO_SUCH_METHOD:
            code, message = _ONLY_GET, "only GET is supported"
        self._send(code, _TEXT, f"{int(code)}: {message or ''}\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Logs nothing, as addresses contain the token."""

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        if status == _ONLY_GET:
            self.send_header("Allow", "GET")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@dataclass(frozen=True)
class ServerAddress:
    """The address at which the server can be reached."""

    host: str
    others: bool = False
    """True if requests from other machines are accepted, with the token."""

    def access(self, token: str) -> Access:
        if not self.others:
            return Access(token)
        names = (*LOCAL, self.host, socket.gethostname(), socket.getfqdn())
        return Access(token, tuple(name.lower() for name in names), any_address=True)

    def address(self, port: int, base: str) -> str:
        everywhere = self.host in ("0.0.0.0", "::")
        host = socket.gethostname() if everywhere else self.host
        return f"http://{_in_address(host)}:{port}{base}"

    def words(self, port: int, base: str) -> Iterator[str]:
        """Yields the lines that are printed at start."""
        yield f"  {self.address(port, base)}"
        if self.others:
            yield "All who can reach this machine and have this address can read all of these"
            yield "runs, and the connection is not encrypted."
        else:
            there = _in_address(self.host)
            login = f"{_user()}@{socket.gethostname()}"
            yield "Anyone with the address can read the runs. From another computer run"
            yield f"  ssh -L {port}:{there}:{port} {login}"
        yield "Ctrl-C ends it."


def _in_address(host: str) -> str:
    """Returns the host as in a URL: an IPv6 address in brackets."""
    if ":" in host:
        return f"[{host}]"
    return host


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user that no list knows
        return "user"
