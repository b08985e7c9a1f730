-- SPDX-License-Identifier: BSD-3-Clause
-- Copyright the mpigauge authors
--
-- For Lmod: MODULEPATH/mpigauge/0.1.0.lua. `root` is where the wheel was installed, a virtual environment:
--   python3 -m venv /apps/mpigauge/0.1.0
--   /apps/mpigauge/0.1.0/bin/pip install mpigauge-0.1.0-py3-none-manylinux_2_17_x86_64.whl
--   /apps/mpigauge/0.1.0/bin/mpigauge man --output /apps/mpigauge/0.1.0/share/man
local root = "/apps/mpigauge/0.1.0"

help([[
Measures how MPI ranks talk on a machine, and says how sure it is of every number.
Load the module of the MPI that is to be measured beside it, and begin with: mpigauge quick
]])
whatis("Name: mpigauge")
whatis("Version: 0.1.0")
whatis("Category: benchmark")
whatis("License: BSD-3-Clause")
whatis("Description: Measures how MPI ranks talk on a machine, and says how sure it is of every number")

conflict("mpigauge")

prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
append_path("MANPATH", "")

-- Where a site has built kernels for all its users: mpigauge mpi build --into /apps/mpigauge/kernels
local kernels = "/apps/mpigauge/kernels"
if isDir(kernels) then
  setenv("MPIGAUGE_KERNELS", kernels)
end
