# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Queries of a driver's library, here of small ones that are compiled for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mpigauge.site.mpi.device_memory import LibraryReport, ask_library

HEAD = """
#include <stdio.h>
#include <string.h>
extern "C" {
int cuDriverGetVersion(int* v) { *v = 12080; return 0; }
int cuGetErrorName(int error, const char** text) {
  *text = error == 100 ? "CUDA_ERROR_NO_DEVICE" : 0;
  return error == 100 ? 0 : 1;
}
"""
GPUS = """
int cuDeviceGetCount(int* n) { *n = 2; return 0; }
int cuDeviceGet(int* device, int index) { *device = index + 7; return 0; }
int cuDeviceGetPCIBusId(char* text, int length, int device) {
  snprintf(text, length, "0000:%02X:00.0", device + 3);
  return 0;
}
int cuDeviceGetName(char* text, int length, int) { strncpy(text, "Test GPU", length); return 0; }
"""
WORKS = "int cuInit(unsigned) { return 0; }"
PEERS = "int cuDeviceCanAccessPeer(int* can, int one, int) { *can = one == 7; return 0; }"
BUSES = ("0000:0a:00.0", "0000:0b:00.0")
BOTH = ((BUSES[0], "Test GPU"), (BUSES[1], "Test GPU"))


def built(tmp_path: Path, *parts: str) -> Path:
    source, library = tmp_path / "driver.cpp", tmp_path / "libcuda.so.1"
    source.write_text("\n".join([HEAD, *parts, "}"]))
    subprocess.run(["g++", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


@pytest.mark.parametrize(
    ("parts", "report"),
    [
        (
            (WORKS, GPUS, PEERS),
            LibraryReport(12080, BOTH, ((*BUSES, True), (*BUSES[::-1], False))),
        ),
        ((WORKS, GPUS), LibraryReport(12080, BOTH)),
        (
            ("int cuInit(unsigned) { return 100; }",),
            LibraryReport(12080, problem="it offers no GPU to this process (CUDA_ERROR_NO_DEVICE)"),
        ),
        (
            ("int cuInit(unsigned) { return 34; }",),
            LibraryReport(12080, problem="it is the stub of a toolkit, not a driver (error 34)"),
        ),
        (
            ("int cuInit(unsigned) { return *(volatile int*)nullptr; }",),
            LibraryReport(12080, problem="the query of its GPUs ended with signal 11"),
        ),
        ((), LibraryReport(12080, problem="the query of its GPUs ended with an error")),
    ],
    ids=["peers", "older", "hidden", "stub", "crash", "wrong"],
)
def test_what_a_driver_reports(
    tmp_path: Path, parts: tuple[str, ...], report: LibraryReport
) -> None:
    assert ask_library(built(tmp_path, *parts)) == report
    assert report.cuda == "12.8"


@pytest.mark.parametrize(
    ("variables", "cuda", "count"),
    [
        ({}, "13.0", 2),
        ({"MPIGAUGE_FAKE_GPUS": "4"}, "13.0", 4),
        ({"CUDA_VISIBLE_DEVICES": "1"}, "13.0", 1),
        ({"CUDA_VISIBLE_DEVICES": ""}, "13.0", 0),
        ({"MPIGAUGE_FAKE_CUDA": "none"}, "13.0", 0),
        ({"MPIGAUGE_FAKE_CUDA": "old"}, "10.2", 2),
    ],
)
def test_the_driver_for_tests(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    cuda: str,
    count: int,
) -> None:
    library = tmp_path / "libcuda.so.1"
    source = repository / "tests" / "fakes" / "cuda.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    report = ask_library(library)
    assert (report.cuda, len(report.gpus)) == (cuda, count)
    assert bool(report.problem) == (count == 0)


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    file = tmp_path / "libcuda.so.1"
    file.write_text("text")
    report = ask_library(file)
    assert (report.version, report.gpus, report.cuda) == (0, (), "")
    assert str(file) in report.problem


def test_a_driver_that_hangs(tmp_path: Path) -> None:
    library = built(tmp_path, "int pause(); int cuInit(unsigned) { for (;;) pause(); return 0; }")
    report = ask_library(library, seconds=0.3)
    assert report.problem.startswith("it did not answer within")
