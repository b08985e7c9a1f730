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

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, sync_playwright

from tests.e2e.in_browser import CHROMIUM, VIEWS


def main(site: Path, pages: list[str]) -> dict[str, dict[str, Any]]:
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        return {view: {page: look(browser, site / page, view) for page in pages} for view in VIEWS}


def look(browser: Browser, path: Path, view: str) -> dict[str, Any]:
    """What the page asked for outside of the site, what axe finds, whether it fits, its paper."""
    heard: list[str] = []
    page = browser.new_context(**VIEWS[view]).new_page()
    page.on("console", lambda message: heard.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: heard.append(f"error: {error}"))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(path.as_uri())
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/{view}-{path.stem}.png")
    elsewhere = [said for said in heard if not said.startswith("file://")]
    found = Axe().run(page, context="article").response  # which asks for style sheets itself
    return {
        "heard": elsewhere,
        "violations": [
            f"{each['id']}: {node['html'][:200]}"
            for each in found["violations"]
            for node in each["nodes"]
        ],
        "passes": len(found["passes"]),
        "fits": page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
        "paper": page.evaluate("getComputedStyle(document.body).backgroundColor"),
        "text": page.inner_text("article"),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]).resolve(), sys.argv[2:])))
