# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A plugin of pytest that names a test when it fails, and not only at the end of all tests."""

from __future__ import annotations

from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class FailuresAtOnce:
    terminal: pytest.TerminalReporter

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.terminal.write(f"\nFAILED {report.nodeid} ({report.when})\n")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Workers have no terminal."""
    if terminal := config.pluginmanager.get_plugin("terminalreporter"):
        config.pluginmanager.register(FailuresAtOnce(terminal))
