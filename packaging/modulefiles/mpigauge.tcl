#%Module1.0
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
#
# For Environment Modules and for Lmod: MODULEPATH/mpigauge/0.1.0, without an ending. `root` is where the wheel
# was installed, a virtual environment:
#   python3 -m venv /apps/mpigauge/0.1.0
#   /apps/mpigauge/0.1.0/bin/pip install mpigauge-0.1.0-py3-none-manylinux_2_17_x86_64.whl
#   /apps/mpigauge/0.1.0/bin/mpigauge man --output /apps/mpigauge/0.1.0/share/man
set root /apps/mpigauge/0.1.0

proc ModulesHelp { } {
  puts stderr "Measures how MPI ranks talk on a machine, and says how sure it is of every number."
  puts stderr "Load the module of the MPI that is to be measured beside it, and begin with: mpigauge quick"
}
module-whatis "Name: mpigauge"
module-whatis "Version: 0.1.0"
module-whatis "Category: benchmark"
module-whatis "License: BSD-3-Clause"
module-whatis "Description: Measures how MPI ranks talk on a machine, and says how sure it is of every number"

conflict mpigauge

prepend-path PATH $root/bin
prepend-path MANPATH $root/share/man
append-path MANPATH ""

# Where a site has built kernels for all its users: mpigauge mpi build --into /apps/mpigauge/kernels
set kernels /apps/mpigauge/kernels
if { [file isdirectory $kernels] } {
  setenv MPIGAUGE_KERNELS $kernels
}
