# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Metadata hook: what a package index shows is README.md with links that lead to the sources of
that version, since it has no other files. Where pyproject.toml names no address of the sources
(`Source` of project.urls), links stay as they are, and `make release` refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<place>[^)\s]+)\)")
_LEADS_SOMEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#")
"""The beginning of a link that needs no file next to the page."""


class WheelReadme(MetadataHookInterface):  # type: ignore[misc,unused-ignore]
    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "")
        if source:
            text = absolute(text, source, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def relative_links(text: str) -> list[str]:
    """Returns the targets of links that need files next to the page."""
    places = [link["place"] for link in _LINK.finditer(text)]
    return [place for place in places if not _LEADS_SOMEWHERE.match(place)]


def absolute(text: str, source: str, tag: str) -> str:
    """The page with all relative links led to the tag in the sources; pictures to the files
    themselves, as the page of a file is not a picture."""

    def led(link: re.Match[str]) -> str:
        if _LEADS_SOMEWHERE.match(link["place"]):
            return link[0]
        kind = "raw" if link["picture"] else "blob"
        place = f"{source.rstrip('/')}/{kind}/{tag}/{link['place']}"
        return f"{link['picture']}[{link['text']}]({place})"

    return _LINK.sub(led, text)
