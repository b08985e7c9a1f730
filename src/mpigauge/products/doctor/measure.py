# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measures in child processes what no file contains: noise on each core, and reading the memory of
a sibling, which single-copy messages need."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from mpigauge.products.doctor.check_finding import CoreNoise, CrossMemory, Measurements
from mpigauge.site.topology.busy import grown
from mpigauge.site.topology.choose import cores_to_use

if TYPE_CHECKING:
    from mpigauge.model.machine import Machine

DETOUR_S = 2e-6
"""A loop of Python looks at the clock every 0.1 µs; more than this was somebody else's time."""
PATIENCE_S = 30.0

NOISE = """
import gc, json, os, resource, sys, time
pu, seconds, least = int(sys.argv[1]), float(sys.argv[2]), int(float(sys.argv[3]) * 1e9)
os.sched_setaffinity(0, {pu})
gc.disable()

def watch(now, least):
    detours = []
    last = begin = now()
    end = begin + int(seconds * 1e9)
    while last < end:
        this = now()
        if this - last > least:
            detours.append(this - last)
        last = this
    return detours, last - begin

switched = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
detours, lasted = watch(time.perf_counter_ns, least)
switched = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switched
print(json.dumps({
    "pu": pu, "seconds": lasted / 1e9, "detours": len(detours), "lost_s": sum(detours) / 1e9,
    "longest_s": max(detours, default=0) / 1e9, "switched_out": switched,
}))
"""

# The owner changes its copy of the buffer after the fork, so that a reader can only get the new
# text from the owner.
READING = """
import ctypes, os, signal
PR_SET_PTRACER, ANY = 0x59616D61, ctypes.c_ulong(-1)
libc = ctypes.CDLL(None, use_errno=True)
text = ctypes.create_string_buffer(b"before", 8)
copy = ctypes.create_string_buffer(8)

class Part(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_size_t)]

def owner(allow):
    ready, answer = os.pipe()
    pid = os.fork()
    if pid == 0:
        text.value = b"after"
        if allow:
            libc.prctl(PR_SET_PTRACER, ANY, 0, 0, 0)
        os.write(answer, b"x")
        signal.pause()
    os.read(ready, 1)
    return pid

def can_read(pid):
    reader = os.fork()
    if reader == 0:
        there, here = Part(ctypes.addressof(text), 8), Part(ctypes.addressof(copy), 8)
        libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        os._exit(0 if copy.value == b"after" else 1)
    return os.waitpid(reader, 0)[1] == 0

def tried(allow):
    pid = owner(allow)
    try:
        return can_read(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

print("open" if tried(False) else "asked" if tried(True) else "refused")
"""


def measure(machine: Machine, seconds: float) -> Measurements:
    """Every core at the same time for so many seconds; 0 leaves the noise out."""
    problems: list[str] = []
    noise = _noise(cores_to_use(machine), seconds, problems) if seconds > 0 else ()
    return Measurements(noise, _cross_memory(problems), tuple(problems))


def _noise(pus: tuple[int, ...], seconds: float, problems: list[str]) -> tuple[CoreNoise, ...]:
    started = [_start(NOISE, str(pu), str(seconds), str(DETOUR_S)) for pu in pus]
    answers = [_answer(child, seconds, problems) for child in started]
    return tuple(CoreNoise(**json.loads(text)) for text in answers if text)


def _cross_memory(problems: list[str]) -> CrossMemory | None:
    answer = _answer(_start(READING), 0.0, problems)
    for state in ("open", "asked", "refused"):
        if answer == state:
            return state
    return None


def _start(script: str, *arguments: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-I", "-S", "-c", script, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)


def _answer(child: subprocess.Popen[str], seconds: float, problems: list[str]) -> str:
    """The output of the child; if it failed, nothing, and its last words are added to
    `problems`."""
    limit = seconds + grown(PATIENCE_S)
    try:
        output, errors = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        problems.append(f"a measurement did not end within {limit:.3g} s")
        return ""
    if child.returncode != 0:
        last = (errors.strip().splitlines() or ["it gave no reason"])[-1]
        problems.append(f"a measurement failed: {last}")
        return ""
    return output.strip()
