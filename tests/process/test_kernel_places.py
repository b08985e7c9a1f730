# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Kernels that are ready: which come first, which are passed over and why, who is told."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.campaign.resume import _differences
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import KernelBuild, Kernels, Mpi
from mpigauge.products.doctor.check_finding import Host
from mpigauge.products.doctor.registry import diagnose
from mpigauge.runs.store import load
from mpigauge.site.builds import cxx, folders, kernel_build, kernel_places
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi import make as build
from mpigauge.site.mpi.make import into as build_into
from mpigauge.site.mpi.make.outlook import outlook, refuse_without
from tests import mpi_fakes as fake
from tests import runs
from tests.unit.products.doctor.test_doctor import host
from tests.unit.site.topology.test_topology import MACHINES

OURS = "0123456789ab"
FITS = KernelBuild(OURS, "c++ 1", "", platform.machine(), "glibc 2.17")


@pytest.fixture
def mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """Of which nothing is built, and nothing can be."""
    for name in ("home", "cache"):
        monkeypatch.setenv(f"MPIGAUGE_{name.upper()}", str(tmp_path / name))
    monkeypatch.setattr(kernel_places, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(build, "sources_digest", lambda: OURS)
    monkeypatch.setenv("CXX", "/no/such/compiler")
    return find(str(fake.mpich(tmp_path / "mpi")))


def put(folder: Path, made: KernelBuild | None = FITS) -> Kernels:
    """Kernels that say this of themselves."""
    folder.mkdir(parents=True)
    for name in ("mpigauge-kernel", "mpigauge-kernel.mpich.so", "cards.json"):
        (folder / name).touch()
    if made:
        kernel_build.write(folder, made)
    return kernel_build.kernels_in(folder, "mpich", "")


def shipped(tmp_path: Path, made: KernelBuild | None = FITS) -> Kernels:
    return put(tmp_path / "shipped" / "kernels" / "mpich", made)


def of_site(folder: Path, made: KernelBuild | None = FITS) -> Kernels:
    return put(folder / f"mpich-{platform.machine()}-{OURS}", made)


def cached(mpi: Mpi, made: KernelBuild | None = FITS) -> Kernels:
    return put(Path(folders.cache()) / "kernels" / f"{build._stem(mpi)}-a1", made)


def test_those_of_the_wheel_come_first_then_the_sites_then_ones_own(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"no C\+\+ compiler"):
        kernels(mpi)
    own = cached(mpi)
    assert kernels(mpi).cards == own.cards
    assert kernels(mpi).origin == "built here"
    at_home = of_site(tmp_path / "home" / "kernels")
    assert kernels(mpi).cards == at_home.cards
    site = of_site(tmp_path / "site")
    monkeypatch.setenv(kernel_places.VARIABLE, str(tmp_path / "site"))
    assert kernels(mpi).cards == site.cards
    ready = shipped(tmp_path)
    assert kernels(mpi).cards == ready.cards
    assert kernels(mpi).origin == "came with mpigauge"
    assert kernels(mpi).build == FITS
    monkeypatch.setenv(kernel_places.VARIABLE, kernel_places.BUILT)
    assert kernels(mpi).cards == own.cards


UNFIT = {
    "they were made of other sources": replace(FITS, sources="other"),
    "they are for riscv64, this is": replace(FITS, machine="riscv64"),
    "they need glibc 99.1, here is": replace(FITS, libc="glibc 99.1"),
    "they need musl 1.2, here is": replace(FITS, libc="musl 1.2"),
    "they have no record of their build": None,
}


@pytest.mark.parametrize("why", UNFIT)
def test_kernels_that_do_not_fit_are_passed_over_with_a_reason(
    why: str, mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_site(tmp_path / "site", UNFIT[why])
    monkeypatch.setenv(kernel_places.VARIABLE, str(tmp_path / "site"))
    own = cached(mpi)
    told: list[str] = []
    assert kernels(mpi, told.append).cards == own.cards
    assert told == [
        f"{tmp_path / 'site'} has no kernels for mpich 5.0.2 that are of this mpigauge and run here"
    ]
    (passed,) = outlook(mpi).passed_over
    assert why in passed


def test_a_cache_that_is_shared_by_unlike_machines_is_no_trap(mpi: Mpi) -> None:
    cached(mpi, replace(FITS, machine="riscv64"))
    with pytest.raises(UserError, match=r"no C\+\+ compiler"):
        kernels(mpi)
    assert outlook(mpi).problem


def test_other_machines_and_libraries_have_caches_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = {cxx.compiler_key(("true",))}
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.1"))
    keys.add(cxx.compiler_key(("true",)))
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert len({*keys, cxx.compiler_key(("true",))}) == 3


# --- a site builds for its users --------------------------------------------------------------
def test_a_site_builds_into_a_folder_that_others_only_read(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(mpi)
    made = build_into.build_into(tmp_path / "site", mpi, folders.say_nothing)
    assert made.cards.parent == tmp_path / "site" / f"mpich-{platform.machine()}-{OURS}"
    modes = {path.name: path.stat().st_mode & 0o777 for path in made.cards.parent.iterdir()}
    assert modes == {
        "mpigauge-kernel": 0o755,
        "mpigauge-kernel.mpich.so": 0o755,
        "cards.json": 0o644,
        "build.json": 0o644,
    }
    again = build_into.build_into(tmp_path / "site", mpi, folders.say_nothing)
    assert again == made
    monkeypatch.setenv(kernel_places.VARIABLE, str(tmp_path / "site"))
    assert kernels(mpi).cards == made.cards


def test_the_command_says_what_users_have_to_set(
    mpi: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cached(mpi)
    words = ["kernels", "build", "--into", str(tmp_path / "site"), "--mpi", str(mpi.prefix)]
    assert run(words) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"mpich (mpich 5.0.2): {tmp_path / 'site'}/mpich-")
    assert second == f"export MPIGAUGE_KERNELS={tmp_path / 'site'}"


def test_a_folder_that_cannot_be_written(mpi: Mpi, capsys: pytest.CaptureFixture[str]) -> None:
    cached(mpi)
    assert run(["kernels", "build", "--into", "/proc/none", "--mpi", str(mpi.prefix)]) == 2
    assert "cannot write /proc/none: nothing can be made there" in capsys.readouterr().err


# --- who is told ------------------------------------------------------------------------------
def any_host() -> Host:
    return host(min(path.stem for path in MACHINES.glob("*.txt")))


def test_doctor_says_which_and_why(mpi: Mpi, tmp_path: Path) -> None:
    machine = any_host()
    (none,) = diagnose(machine, ["kernels"])
    assert none.state == "unknown"
    (missing,) = diagnose(replace(machine, outlook=outlook(mpi)), ["kernels"])
    assert missing.state == "bad"
    assert "there are no kernels for mpich 5.0.2: no C++ compiler" in missing.found
    of_site(tmp_path / "home" / "kernels", replace(FITS, libc="glibc 99"))
    shipped(tmp_path)
    (found,) = diagnose(replace(machine, outlook=outlook(mpi)), ["kernels"])
    assert found.state == "good"
    assert found.found == (
        f"the kernels for mpich 5.0.2: came with mpigauge, in {tmp_path}/shipped/kernels/mpich, "
        f"made by c++ 1, sources {OURS}"
    )


def test_doctor_says_what_would_be_built_and_what_is_passed_over(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_site(tmp_path / "home" / "kernels", replace(FITS, libc="glibc 99"))
    for name in ("g++", "cmake"):
        fake.program(tmp_path / "bin" / name, "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("CXX", "g++ -O1")
    passed, later = diagnose(replace(any_host(), outlook=outlook(mpi)), ["kernels"])
    assert "they need glibc 99" in passed.found
    assert later.found == "the kernels for mpich 5.0.2 would be built here, by g++ -O1"
    assert {passed.state, later.state} == {"note"}


def test_a_job_is_refused_before_it_waits_for_nothing(mpi: Mpi, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there are no kernels for mpich 5.0.2: no C\+\+ compiler"):
        refuse_without([mpi])
    with pytest.raises(UserError, match=r"no kernels here and no compiler.*mpi build --into"):
        refuse_without([])
    shipped(tmp_path)
    refuse_without([mpi])
    refuse_without([])


def test_submit_refuses_before_the_queue(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.program(tmp_path / "bin" / "sbatch", f"#!/bin/sh\ntouch {tmp_path}/submitted\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    words = ["submit", "--system", "slurm", "run", "PingPong", "--mpi", str(mpi.prefix)]
    assert run(words) == 2
    assert "there are no kernels for mpich 5.0.2" in capsys.readouterr().err
    assert not (tmp_path / "submitted").exists()


# --- what runs say ----------------------------------------------------------------------------
def measured_by(folder: Path, compiler: str) -> Path:
    runs.write(folder)
    passport = json.loads((folder / "passport.json").read_text())
    made = {"origin": "built here", **asdict(replace(FITS, compiler=compiler))}
    (folder / "passport.json").write_text(json.dumps(passport | {"kernels": made}))
    return folder


def test_runs_by_kernels_of_different_builds_are_not_compared_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (measured_by(tmp_path / name, name) for name in ("g++ 12", "clang 22"))
    assert run(["compare", str(one), str(other)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"kernels: g++ 12, sources {OURS} " in said
    assert f"against clang 22, sources {OURS} " in said
    assert run(["compare", str(one), str(measured_by(tmp_path / "b", "g++ 12"))]) == 0
    assert "kernels:" not in capsys.readouterr().out


def test_a_run_is_not_resumed_by_kernels_of_another_compiler(mpi: Mpi, tmp_path: Path) -> None:
    stored = load(measured_by(tmp_path / "run", "g++ 12"))
    here, used = any_host().machine, shipped(tmp_path)
    found = {what: (then, now) for what, then, now in _differences(stored, mpi, here, used)}
    assert found["kernels of"] == ("g++ 12", "c++ 1")
