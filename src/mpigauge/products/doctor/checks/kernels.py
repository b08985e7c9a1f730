# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The kernels that would measure the MPI here."""

from __future__ import annotations

from collections.abc import Iterator

from mpigauge.products.doctor.check_finding import CheckFinding, Host, bad, good, note, unknown
from mpigauge.products.doctor.registry import check

LATER = "`mpigauge mpi build` does it now, and with --into DIR for all users of a site"


@check("kernels", "which kernels would measure the MPI that is here, and why those")
def kernels(host: Host) -> Iterator[CheckFinding]:
    outlook = host.outlook
    if outlook is None:
        yield unknown("no MPI was asked, so it is not known which kernels would measure it")
        return
    for passed in outlook.passed_over:
        yield note(f"kernels are passed over, {passed}", "others are taken", LATER)
    if outlook.kernels:
        how = f", made by {outlook.kernels.build.words}" if outlook.kernels.build else ""
        where = outlook.kernels.cards.parent
        yield good(f"the kernels for {outlook.label}: {outlook.kernels.origin}, in {where}{how}")
    elif outlook.problem:
        yield bad(
            f"there are no kernels for {outlook.label}: {outlook.problem}",
            "nothing can be measured with it here",
            "load a compiler, or build them elsewhere for a folder that this machine sees: "
            "`mpigauge mpi build --into DIR`, then set MPIGAUGE_KERNELS to DIR",
        )
    else:
        yield note(
            f"the kernels for {outlook.label} would be built here, by {' '.join(outlook.compiler)}",
            "the first command that needs them takes a minute or two longer",
            LATER,
        )
