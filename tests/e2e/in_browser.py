# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Opens a page in Chromium and uses it: `in_browser.py PAGE` prints what it saw as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, ElementHandle, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FOR_EVER = 0
"""The timeout of an action: the test ends this program when its own patience is over."""
VIEWS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
}


def main(address: str) -> dict[str, Any]:
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=FOR_EVER
        )
        seen = {name: look(browser, address, view) for name, view in VIEWS.items()}
        return {
            "views": seen,
            "used": use(browser, address),
            "without script": without_script(browser, address),
        }


def opened(browser: Browser, address: str, heard: list[str], **view: Any) -> Page:
    """The page, with all that it asks for and complains of in `heard`."""
    page = browser.new_context(accept_downloads=True, **view).new_page()
    page.set_default_timeout(FOR_EVER)
    page.on("console", lambda message: heard.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: heard.append(f"error: {error}"))
    page.on("dialog", lambda dialog: heard.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: heard.append(f"request: {request.url}"))
    page.goto(address)
    heard.remove(f"request: {address}")
    return page


def look(browser: Browser, address: str, view: dict[str, Any]) -> dict[str, Any]:
    """What axe finds once everything is unfolded, and whether the page fits into its window."""
    heard: list[str] = []
    page = opened(browser, address, heard, **view)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    return {"heard": heard} | judged(page)


def judged(page: Page, within: str | None = None) -> dict[str, Any]:
    """What axe finds within the elements of this selector, whether all fits, and the paper."""
    found = Axe().run(page, context=within).response
    return {
        "violations": [
            f"{each['id']}: {node['html'][:200]}"
            for each in found["violations"]
            for node in each["nodes"]
        ],
        "passes": len(found["passes"]),
        "fits": page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
        "paper": page.evaluate("getComputedStyle(document.body).backgroundColor"),
    }


def use(browser: Browser, address: str) -> dict[str, Any]:
    """Every control once."""
    heard: list[str] = []
    page = opened(browser, address, heard, **VIEWS["light"])
    said = {
        "switches": switches(page),
        "readouts": readouts(page),
        "ranges": ranges(page),
        "found": find(page),
        "cells": cells(page),
        "lost links": lost_links(page),
        "details": unfolded(page),
        "downloads": downloads(page),
    }
    return said | {"heard": heard}


def switches(page: Page) -> list[list[bool]]:
    """Of each: whether its curves can be seen before, when it is off, and when it is on again."""
    found = []
    for figure in page.query_selector_all("figure:has(.switches)"):
        for box in figure.query_selector_all(".switches input"):
            curve = figure.query_selector(f".series[data-series='{box.get_attribute('value')}']")
            assert curve is not None
            states = [is_drawn(curve)]
            for _ in range(2):
                box.press("Space")
                states.append(is_drawn(curve))
            found.append(states)
    return found


def is_drawn(curve: ElementHandle) -> bool:
    """Chromium calls a level line, which has no height, invisible."""
    return bool(curve.evaluate("curve => getComputedStyle(curve).display !== 'none'"))


def readouts(page: Page) -> list[str]:
    """What is said of the first point by keyboard, and of the last by pointer."""
    said = []
    figure = page.query_selector("#curves figure:has(.series .dot)")
    assert figure is not None
    plot, readout = figure.query_selector(".plot"), figure.query_selector(".readout")
    assert plot is not None
    assert readout is not None
    plot.focus()
    page.keyboard.press("ArrowRight")
    said.append(readout.inner_text())
    page.keyboard.press("ArrowLeft")
    said.append(readout.inner_text())
    figure.query_selector_all(".series .dot")[1].hover(force=True)
    said.append(readout.inner_text())
    return said


def ranges(page: Page) -> list[list[str | None]]:
    """Of each plot of more than two curves that has the switch: whether samples are shown at first,
    then, and again."""
    found = []
    for figure in page.query_selector_all("figure:has(.ranges[display=none]):has(.ranged)"):
        box, part = figure.query_selector(".ranged input"), figure.query_selector(".ranges")
        assert box is not None
        assert part is not None
        states = [part.get_attribute("display")]
        for _ in range(2):
            box.press("Space")
            states.append(part.get_attribute("display"))
        found.append(states)
    return found


def find(page: Page) -> dict[str, Any]:
    """What comes when a curve is looked for by words, and then chosen."""
    page.locator(".find input").fill("allreduce 4")
    page.wait_for_selector(".find option", state="attached")
    said = page.locator(".find .found").inner_text()
    page.locator(".find select").select_option(index=0)
    return {
        "said": said,
        "caption": page.locator(".find caption").inner_text(),
        "cells": page.locator(".find tbody td").all_inner_texts()[:3],
        "points": len((page.locator("polyline.one").get_attribute("points") or "").split()),
    }


def cells(page: Page) -> list[str]:
    """The titles of the drawings that come when another cell is chosen."""
    select = page.locator("#choose select")
    titles = []
    for value in ("1", "0"):
        before = page.locator("#cell svg").first.get_attribute("aria-label")
        select.select_option(value)
        page.wait_for_function(
            "(b) => document.querySelector('#cell svg').getAttribute('aria-label') !== b",
            arg=before,
        )
        titles.append(page.locator("#cell svg text").first.inner_html())
    return titles


def lost_links(page: Page) -> list[str]:
    """Links within the page that lead nowhere."""
    hrefs = [a.get_attribute("href") or "" for a in page.query_selector_all("nav a")]
    return [href for href in hrefs if page.query_selector(href) is None]


def unfolded(page: Page) -> list[bool]:
    found = []
    for each in page.query_selector_all("details"):
        summary = each.query_selector("summary")
        assert summary is not None
        summary.press("Enter")
        found.append(bool(each.evaluate("(d) => d.open")))
    return found


def downloads(page: Page) -> dict[str, str]:
    """The files that are saved, by the ends of their names."""
    saved = {}
    for link in page.query_selector_all("a[download]"):
        with page.expect_download() as coming:
            link.click()
        path = coming.value.path()
        saved[coming.value.suggested_filename.rpartition(".")[2]] = path.read_text(encoding="utf-8")
    return saved


def without_script(browser: Browser, address: str) -> dict[str, Any]:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.set_default_timeout(FOR_EVER)
    page.goto(address)
    drawings = page.query_selector_all("figure svg[role=img]")
    return {
        "drawings": [drawing.is_visible() for drawing in drawings],
        "controls": [c.is_visible() for c in page.query_selector_all(".switches, #choose")],
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]).resolve().as_uri())))
