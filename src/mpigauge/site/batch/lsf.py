# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""IBM Spectrum LSF."""

from __future__ import annotations

import re
from shlex import quote

from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import check_name
from mpigauge.model.hosts import NamedHost
from mpigauge.model.limits import whole_number
from mpigauge.site.batch.registry import batch_system
from mpigauge.site.batch.system import BatchState, Environment, Read, System, Wish

_REASONS = {
    "TERM_RUNLIMIT": "ran out of its time",
    "TERM_OWNER": "was cancelled",
    "TERM_ADMIN": "was cancelled",
    "TERM_FORCE_OWNER": "was cancelled",
    "TERM_MEMLIMIT": "ran out of memory",
    "TERM_PREEMPT": "had to make room for another job",
}


@batch_system
class Lsf(System):
    name = "lsf"
    variable = "LSB_JOBID"
    submit = ("bsub",)
    cancel = "bkill"
    number = re.compile(r"^Job <(\d+)>", re.MULTILINE)
    agent = ("blaunch",)

    def hosts(self, environment: Environment, read: Read) -> tuple[NamedHost, ...]:
        """LSB_MCPU_HOSTS: names and numbers of slots by turns."""
        del read
        words = environment.get("LSB_MCPU_HOSTS", "").split()
        counts = words[1::2]
        if len(words) % 2 or not all(map(whole_number, counts)):
            raise UserError(
                f"LSB_MCPU_HOSTS='{' '.join(words)}' is not a list of hosts and their slots; unset "
                "LSB_JOBID if this is not a job"
            )
        for name in words[::2]:
            check_name(name, "LSB_MCPU_HOSTS")
        pairs = zip(words[::2], counts, strict=True)
        return tuple(NamedHost(name, int(count), "LSB_MCPU_HOSTS") for name, count in pairs)

    def head(self, wish: Wish) -> list[str]:
        ranks = wish.nodes * (wish.ppn or 1)
        words = [
            f"-J {wish.name}",
            f"-o {quote(wish.log)}",
            f"-n {ranks}",
            f'-R "span[ptile={wish.ppn or 1}]"',
            "" if wish.ppn else "-x",
            f"-W {wish.minutes // 60}:{wish.minutes % 60:02d}" if wish.minutes else "",
            f"-q {wish.queue}" if wish.queue else "",
            f"-P {wish.account}" if wish.account else "",
            *wish.options,
        ]
        return [f"#BSUB {word}" for word in words if word]

    def ask(self, job: str) -> tuple[str, ...]:
        return ("bjobs", "-noheader", "-o", "stat exit_reason pend_reason delimiter='|'", job)

    def state(self, status: int, answer: str) -> BatchState:
        name, _, rest = answer.strip().partition("|")
        if status or not name:
            return BatchState("unknown")
        if name == "DONE":
            return BatchState("ended")
        if name in ("EXIT", "ZOMBI"):
            reason = rest.partition(":")[0].partition("|")[0].strip()
            return BatchState("ended", _REASONS.get(reason, "failed"))
        if name == "RUN":
            return BatchState("running")
        return BatchState("waiting", rest.rpartition("|")[2].strip(" -"))
