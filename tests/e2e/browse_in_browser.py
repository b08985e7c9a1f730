# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Looks at the runs of a folder in Chromium: `browse_in_browser.py DIR` prints what it saw as JSON.

The server runs here, for what is outside cannot be reached from the view of the machine in which
Chromium is installed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mpigauge.products.browse.access import new_token
from mpigauge.products.browse.addresses import Pages
from mpigauge.products.browse.runs_folder import RunsFolder
from mpigauge.products.browse.serve import Server, ServerAddress
from tests.e2e.in_browser import CHROMIUM, FOR_EVER, VIEWS, look, opened

TREND = "PingPong 8 B on 2 ranks"


def main(folder: Path) -> dict[str, Any]:
    place, token = ServerAddress("127.0.0.1"), new_token()
    base = f"/{token}/"
    with (
        RunsFolder.open(folder) as runs,
        Server(place.host, 0, place.access(token), Pages(runs, base)) as server,
    ):
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            return seen(place.address(server.server_port, base))
        finally:
            server.shutdown()
            thread.join()


def seen(address: str) -> dict[str, Any]:
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=FOR_EVER
        )
        used = use(browser, address)
        looks = {
            f"{page} {view}": look(browser, used["pages"][page], VIEWS[view])
            for page, view in (
                ("runs", "dark"), ("runs", "phone"), ("beside", "phone"), ("trends", "phone"),
                ("trend", "light"),
            )
        }  # fmt: skip
        return {"address": address, "used": used, "looks": looks}


def use(browser: Browser, address: str) -> dict[str, Any]:
    """Finds runs, puts two side by side, opens a report and a trend, half of it by keyboard."""
    heard: list[str] = []
    page = opened(browser, address, heard, **VIEWS["light"])
    said: dict[str, Any] = {"pages": {"runs": page.url}, "all": runs(page)}
    said["found"] = found(page)
    said["beside"] = beside(page)
    said["pages"]["beside"] = page.url
    page.get_by_role("link", name="night00", exact=True).click()
    said["report"] = page.locator("h1").inner_text()
    page.get_by_role("link", name="All runs").click()
    page.get_by_role("link", name="Trends").press("Enter")
    said["pages"]["trends"] = page.url
    page.get_by_role("link", name=TREND).press("Enter")
    said["pages"]["trend"] = page.url
    said["trend"] = trend(page)
    return said | {"heard": heard}


def runs(page: Page) -> list[str]:
    return [link.inner_text() for link in page.query_selector_all(".runs tbody th a")]


def found(page: Page) -> dict[str, Any]:
    """With each control of the filter once."""
    said: dict[str, Any] = {}
    page.get_by_label("MPI").select_option("mpich")
    page.get_by_role("button", name="Show").click()
    said["mpi"] = len(runs(page))
    page.get_by_label("Benchmark").select_option("STREAM")
    page.get_by_label("Host").select_option("n1")
    page.get_by_label("From").fill("2026-10-05")
    page.get_by_label("To").fill("2026-10-12")
    page.get_by_role("button", name="Show").press("Enter")
    said["days"] = runs(page)
    page.get_by_text("By an expression").click()
    page.get_by_label("Where").fill("kernel = '6.1.0-18'")
    page.get_by_label("Where").press("Enter")
    said["where"] = runs(page)
    page.get_by_label("Find").fill("night1")
    page.get_by_label("Find").press("Enter")
    said["find"] = runs(page)
    said["kept"] = page.get_by_label("Where").input_value()
    page.get_by_role("link", name="all", exact=True).click()
    said["again"] = len(runs(page))
    return said


def beside(page: Page) -> dict[str, Any]:
    page.get_by_label("Choose night00", exact=True).press("Space")
    page.get_by_label("Choose night12", exact=True).press("Space")
    page.get_by_role("button", name="Put the chosen side by side").press("Enter")
    return {
        "said": page.locator("#verdicts li").first.inner_text(),
        "curves": [
            label.inner_text() for label in page.locator(".switches").first.locator("label").all()
        ],
        "verdicts": page.locator("#numbers td:last-child").all_text_contents(),
    }


def trend(page: Page) -> dict[str, Any]:
    page.locator("figure .plot").focus()
    page.keyboard.press("ArrowRight")
    return {
        "said": page.locator(".verdict").inner_text(),
        "point": page.locator(".readout").inner_text(),
        "marks": page.locator(".mark text").all_text_contents(),
        "change": page.locator("table").first.locator("tbody td").all_text_contents(),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
