# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Opens the page of a profile in Chromium, and sorts and searches its call sites:
`profile_in_browser.py PAGE` prints what it saw as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.e2e.in_browser import CHROMIUM, FOR_EVER, VIEWS, look, opened

TABLE = "#sites .sorting >> nth=0"


def main(address: str) -> dict[str, Any]:
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=FOR_EVER
        )
        return {
            "views": {name: look(browser, address, view) for name, view in VIEWS.items()},
            "used": use(browser, address),
        }


def use(browser: Browser, address: str) -> dict[str, Any]:
    """The calls in the order that they have then."""
    heard: list[str] = []
    page = opened(browser, address, heard, **VIEWS["light"])
    seen: dict[str, Any] = {"at first": calls(page)}
    for head in ("calls", "call"):
        button = page.locator(TABLE).get_by_role("button", name=head, exact=True)
        for order in ("descending", "ascending"):
            button.click()
            seen[f"{head} {order}"] = calls(page)
    page.locator(TABLE).get_by_role("searchbox").fill("MAIN send")
    seen["found"] = calls(page)
    seen["said"] = page.locator(TABLE).locator(".found").inner_text()
    return seen | {"heard": heard}


def calls(page: Page) -> list[str]:
    rows = page.locator(TABLE).locator("tbody tr:visible td:nth-child(2)")
    return rows.all_inner_texts()


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]).resolve().as_uri())))
