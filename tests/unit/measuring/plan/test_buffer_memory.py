# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""--memory: its words, what they exclude, and the limit that once had this name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mpigauge.measuring.plan import LaunchPlan, Plan, PlanPart, kernel_words, read_request
from mpigauge.measuring.plan.memory.buffer_memory import KINDS, read_memory
from mpigauge.measuring.plan.memory.memory_check import check_memory
from mpigauge.model.cards import Card
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import HostRanks
from mpigauge.model.stored_cards import all_cards

CARDS = all_cards()
PAIR, COLLECTIVE = CARDS.find("PingPong"), CARDS.find("Bcast")


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (("device",), ("device",)),
        (("Device, HOST",), ("device", "host")),
        (("device", "host,device"), ("device", "host")),
        (("device:host,host:device",), ("device:host", "host:device")),
        (("device:device,device",), ("device",)),
        ((",".join(KINDS),), KINDS),
    ],
)
def test_kinds_are_read_each_once(words: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    assert read_memory(words) == kinds
    assert read_request({"memory": words}).memory == kinds


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("gpu", "there is no memory 'gpu'; did you mean 'device'?"),
        ("cuda", "did you mean 'device'?"),
        ("D:H", "there is no memory 'd'; did you mean 'device'?"),
        ("cpu", "did you mean 'host'?"),
        ("shared", "did you mean 'managed'?"),
        ("devise", "did you mean 'device'?"),
        ("much", "write host, pinned, device or managed, or two of them as device:host (a size"),
        ("device:", "'device:' lacks a side; write both, such as device:host"),
        (":host", "':host' lacks a side"),
        ("host:device:host", "has 3 sides, and a pair has two: host:device"),
        ("host,,device", "a word of 'host,,device' is empty; write host, pinned"),
        ("", "a word of '' is empty"),
        ("8Q", "--memory: '8Q' is not a size"),
    ],
)
def test_wrong_kinds_are_refused_with_the_nearest(word: str, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        read_request({"memory": (word,)})
    assert str(error.value).startswith("--memory: ")
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


# --- the limit --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "kinds", "limit"),
    [
        ({"memory_limit": "2G"}, (), 2 << 30),
        ({"memory": "2G"}, (), 2 << 30),
        ({"memory": ("1Mi",)}, (), 1 << 20),
        ({"memory": ("device,1Mi",)}, ("device",), 1 << 20),
        ({"memory": ("1Mi",), "memory_limit": "1Mi"}, (), 1 << 20),
        ({}, (), 0),
    ],
)
def test_a_size_is_the_old_form_of_the_limit(
    options: dict[str, Any], kinds: tuple[str, ...], limit: int
) -> None:
    request = read_request(options)
    assert (request.memory, request.memory_limit) == (kinds, limit)


@pytest.mark.parametrize(
    "options", [{"memory": ("1G", "2G")}, {"memory": ("1G",), "memory_limit": "2G"}]
)
def test_two_limits_contradict(options: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"--memory-limit: .* limit the same; name one size"):
        read_request(options)


def test_an_older_plan_has_its_limit_as_memory() -> None:
    stored = Plan((PlanPart(("PingPong",), 2),), "mpich", 1).to_json()
    assert Plan.from_json(stored | {"memory": ["device", "host"]}).memory == ("device", "host")
    del stored["memory_limit"]
    older = Plan.from_json(stored | {"memory": 1 << 30})
    assert (older.memory, older.memory_limit) == ((), 1 << 30)
    assert Plan.from_json(stored | {"memory": 0}) == Plan.from_json(stored | {"memory": []})


def test_the_plan_keeps_memory_and_gpus() -> None:
    block = HostRanks("", 2, ("0", "1"), gpus=("0000:19:00.0", "0000:3b:00.0"))
    part = PlanPart(("PingPong",), 2, blocks=(block,))
    plan = Plan((part,), "mpich", 1, memory=("device", "device:host"), cuda="/x/libcuda.so.1")
    assert Plan.from_json(plan.to_json()) == plan
    words = kernel_words(plan, LaunchPlan(0, part, 1))
    pairs = dict(zip(words[::2], words[1::2], strict=True))
    assert pairs["--memory"] == "device,device:host"
    assert pairs["--gpus"] == "0000:19:00.0,0000:3b:00.0"
    assert pairs["--cuda"] == "/x/libcuda.so.1"
    assert "--memory-limit" not in pairs
    limited = kernel_words(replace(plan, memory_limit=5), LaunchPlan(0, part, 1))
    assert limited[limited.index("--memory-limit") + 1] == "5"


# --- what can have such buffers -----------------------------------------------------------------
def refusal(options: dict[str, Any], *cards: Card) -> str:
    with pytest.raises(UserError) as error:
        check_memory(read_request(options), cards, cards)
    return str(error.value)


def test_two_sides_are_for_pairs() -> None:
    check_memory(read_request({"memory": ("device:host",)}), [PAIR], [PAIR])
    assert "--memory host:device: two sides are for benchmarks of two ranks, and Bcast is not one"\
        in refusal({"memory": ("device", "host:device")}, PAIR, COLLECTIVE)  # fmt: skip


def test_a_benchmark_without_such_buffers_is_refused_by_name() -> None:
    files = replace(COLLECTIVE, name="S_Write_Expl", suite="IO", gpu="it writes them to files")
    check_memory(read_request({"memory": ("host",)}), [files], [files])
    for kind in ("device", "pinned", "managed"):
        assert refusal({"memory": ("host", kind)}, PAIR, files) == (
            f"--memory {kind}: IO:S_Write_Expl takes host memory alone: it writes them to files"
        )


def test_of_a_suite_the_rest_is_measured() -> None:
    files = replace(COLLECTIVE, name="S_Write_Expl", suite="IO", gpu="it writes them to files")
    for kind in ("device", "device:host"):
        request = read_request({"memory": (kind,)})
        check_memory(request, [PAIR, COLLECTIVE, files], [PAIR])
        with pytest.raises(UserError):
            check_memory(request, [files], [])


@pytest.mark.parametrize(
    ("option", "value"), [("data", "fresh"), ("data", "both"), ("cache", "cold"),
                          ("cache", "both"), ("threads", "2")]
)  # fmt: skip
def test_options_that_need_host_memory(option: str, value: str) -> None:
    check_memory(read_request({"memory": ("host",), option: value}), [PAIR], [PAIR])
    assert refusal({"memory": ("pinned",), option: value}, PAIR).startswith(
        f"--{option} {value} and --memory pinned contradict: "
    )


def test_the_classic_mode_has_every_memory() -> None:
    request = read_request({"memory": ("device",), "classic": True})
    check_memory(request, [PAIR], [PAIR])
    assert (request.classic, request.memory) == (True, ("device",))
