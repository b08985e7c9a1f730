# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The view of a session: it shows progress, or drops it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.measuring import campaign
    from mpigauge.measuring.campaign.state import LaunchOutcome


class View(Protocol):
    """Shows what happens between a request and its results; computes nothing."""

    @property
    def command(self) -> Sequence[str]:
        """The words of the command that makes the runs, as they are stored."""

    def note(self, text: str) -> None:
        """Takes a sentence on how a request is understood. It is shown once something starts or
        ends well, since a refusal stands alone."""

    def report(self, text: str) -> None:
        """Shows at once what takes a while, such as a build."""

    def start(self) -> None:
        """Shows the notes: something starts."""

    def begin(self, folder: Path) -> None:
        """Takes the folder of a run before its first launch, and shows the notes."""

    def of_campaign(self) -> campaign.View:
        """The view of a campaign while it runs."""

    def prepare(self) -> None:
        """Prepares to show results, while the first launch starts MPI."""


class SilentView:
    """Shows nothing."""

    def __init__(self, command: Sequence[str] = ()) -> None:
        self.command = command

    def note(self, text: str) -> None:
        pass

    def report(self, text: str) -> None:
        pass

    def start(self) -> None:
        pass

    def begin(self, folder: Path) -> None:
        pass

    def of_campaign(self) -> campaign.View:
        return _SilentCampaign()

    def prepare(self) -> None:
        pass


class _SilentCampaign:
    def show(self, state: campaign.CampaignState) -> None:
        pass

    def launch_ended(self, state: campaign.CampaignState, outcome: LaunchOutcome) -> None:
        pass

    def close(self) -> None:
        pass


SILENT = SilentView()
