# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
#
# Goes into a repository of Spack's packages, as packages/mpigauge/package.py.
# Placeholders until the first upload: nothing is at these addresses, and the checksums are zeros,
# by which Spack refuses to install. `make release` prints the real ones.
import platform

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *

# On these machines the wheel: its kernels serve every MPI of an ABI, so there is none to depend on,
# and no compiler is needed where mpigauge runs. It has the sources, too: MPIGAUGE_KERNELS=built
# compiles them.
WHEELS = {
    "x86_64": "0000000000000000000000000000000000000000000000000000000000000000",
    "aarch64": "0000000000000000000000000000000000000000000000000000000000000000",
}
MACHINE = platform.machine()


class Mpigauge(PythonPackage):
    """Measures how MPI ranks talk on a machine, and says how sure it is of every number."""

    homepage = "https://pypi.org/project/mpigauge/"
    pypi = "mpigauge/mpigauge-0.1.0.tar.gz"

    license("BSD-3-Clause")

    if MACHINE in WHEELS:
        version(
            "0.1.0",
            sha256=WHEELS[MACHINE],
            url="https://files.pythonhosted.org/packages/py3/m/mpigauge/"
            f"mpigauge-0.1.0-py3-none-manylinux_2_17_{MACHINE}.whl",
            expand=False,
        )
    else:
        version(
            "0.1.0",
            sha256="0000000000000000000000000000000000000000000000000000000000000000",
        )
        depends_on("py-hatchling@1.26:", type="build")
        depends_on("py-hatch-vcs@0.4:", type="build")
        # mpigauge builds its kernels when it first meets an ABI of MPI, with CXX, g++ or clang++.
        depends_on("cmake@3.18:", type="run")
        depends_on("gmake", type="run")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-cloup@2:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-numpy@1.24:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-tomli@2:", type=("build", "run"), when="^python@:3.10")

    # Others are imported when a command needs them; some of them want an extra.
    import_modules = ["mpigauge", "mpigauge.cli", "mpigauge.commands", "mpigauge.products"]

    sanity_check_is_file = [join_path("bin", "mpigauge")]

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        # MPIs that a user installs (`mpigauge mpi install mpich`) go to the user's data and not to
        # Spack's Python, which is a virtual environment.
        env.set("MPIGAUGE_HOME", "~/.local/share/mpigauge")

    def test_version(self):
        """it says its version"""
        mpigauge = Executable(self.prefix.bin.mpigauge)
        assert str(self.spec.version) in mpigauge("--version", output=str, error=str)
