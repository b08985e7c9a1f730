# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Opens pages of the site in Chromium: `site_in_browser.py SITE PAGE…` prints what it saw as JSON.

Where PICTURES names a folder, each page is drawn into it in each view.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests.e2e.in_browser import CHROMIUM, FOR_EVER, VIEWS, judged, opened


def main(site: Path, pages: list[str]) -> dict[str, dict[str, Any]]:
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=FOR_EVER
        )
        return {view: {page: look(browser, site / page, view) for page in pages} for view in VIEWS}


def look(browser: Browser, path: Path, view: str) -> dict[str, Any]:
    """What the page asked for outside of the site, what axe finds, whether it fits, its paper."""
    heard: list[str] = []
    page = opened(browser, path.as_uri(), heard, **VIEWS[view])
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/{view}-{path.stem}.png")
    elsewhere = [said for said in heard if not said.startswith("request: file://")]
    said = judged(page, "article")  # which asks for style sheets itself
    return {"heard": elsewhere, "text": page.inner_text("article"), **said}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]).resolve(), sys.argv[2:])))
