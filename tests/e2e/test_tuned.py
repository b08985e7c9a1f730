# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""--tuned: measurements and programs with the rules of a tuning, on real MPIs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.runs.store import load
from mpigauge.runs.store.tunings import sha256_of
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS
from tests import tunings
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi
SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
  MPI_Init(&count, &words);
  puts(getenv("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"));
  MPI_Finalize();
  return 0;
}
"""
SHORT = ("--ranks", "2", "--sizes", "8,8Ki", "--launches", "1", *cli.ROUGH)


def test_a_run_follows_the_rules_and_records_them(mpi: Mpi, tmp_path: Path) -> None:
    tunings.make(tmp_path / "rules", mpi)
    form = RULE_FORMATS[mpi.name]
    told = [f"--set={name}={value}" for name, value in form.told_with.items()]
    words = ("run", "Alltoall", "--mpi", mpi.spec, *SHORT, *told)
    done = cli.mpigauge(*words, "--tuned", "rules", "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert " · rules of rules (" in done.stdout
    run = load(tmp_path / "out")
    assert run.header["tuned"]["sha256"] == sha256_of(tmp_path / "rules")
    assert {cell.message_bytes for cell in run.cells} == {8, 8192}
    said = "".join(log.read_text() for log in (tmp_path / "out" / "logs").glob("*.std*"))
    assert form.has_read(tmp_path / "rules", said) == bool(form.told_with)


def test_rules_of_another_build_are_refused_everywhere(tmp_path: Path) -> None:
    tunings.make(tmp_path / "rules", find("mpich"))
    line = str(find("openmpi").mpiexec)
    for words in (
        ("run", "Alltoall", "--mpi", "openmpi", *SHORT, "--tuned", "rules"),
        ("sweep", "Alltoall", "--mpi", "openmpi", "--vary", "btl_sm_eager_limit=4096", "--tuned",
         "rules"),
        ("exec", "--mpi", "openmpi", "--np", "2", "--tuned", "rules", "--", "true"),
        ("profile", "--mpi", "openmpi", "--np", "2", "--tuned", "rules", "--", "true"),
        ("profile", "--tuned", "rules", "--", line, "-n", "2", "true"),
        ("tune", "apply", "rules", "--", line, "-n", "2", "true"),
        ("tune", "verify", "rules", "--mpi", "openmpi"),
    ):  # fmt: skip
        refused = cli.mpigauge(*words, cwd=tmp_path)
        assert refused.returncode == 2, (words, refused.stderr)
        assert "is another build; tune again for it" in refused.stderr, words
    assert [path.name for path in tmp_path.iterdir()] == ["rules"]


def test_a_setting_that_contradicts_the_rules_is_refused(tmp_path: Path) -> None:
    tunings.make(tmp_path / "rules", find("openmpi"))
    (tmp_path / "other").write_text("1\n3\n1\n1\n1\n0 1 0 0\n")  # Alltoall by algorithm 1
    against = "--set=coll_tuned_dynamic_rules_filename=other"
    words = ("run", "Alltoall", "--mpi", "openmpi", *SHORT, "--tuned", "rules", against)
    refused = cli.mpigauge(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "leave one of them out" in refused.stderr


def made(folder: Path, mpi: Mpi) -> Path:
    """A program that prints the file of rules that it was told."""
    (folder / "app.c").write_text(SOURCE)
    words = ["gcc", "-isystem", str(headers(mpi)), "app.c", "-o", "app", str(mpi.library)]
    bound = f"-Wl,-rpath,{mpi.library.parent}"
    subprocess.run([*words, bound], cwd=folder, check=True)
    return folder / "app"


def test_programs_get_the_rules_from_exec_and_profile(tmp_path: Path) -> None:
    mpich = find("mpich")
    tunings.make(tmp_path / "rules", mpich)
    program = str(made(tmp_path, mpich))
    file = str(tmp_path / "rules" / "general.json")
    by_us = ("--mpi", "mpich", "--np", "1", "--tuned", "rules")
    line = (str(mpich.mpiexec), "-n", "1", program)
    for words in (
        ("exec", *by_us, "--", program),
        ("profile", *by_us, "--output", "a", "--", program),
        ("profile", "--tuned", "rules", "--output", "b", "--", *line),
        ("tune", "apply", "rules", "--", *line),
    ):
        done = cli.mpigauge(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{file}\n", words
    for name in ("a", "b"):
        recorded = load(tmp_path / name).header["tuned"]
        assert recorded["sha256"] == sha256_of(tmp_path / "rules")
