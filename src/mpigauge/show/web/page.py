# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Puts what is known into templates; whatever is text is escaped there."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

    from mpigauge.draw.plot import Picture


OWN = {"style": "style.css", "script": "script.js"}


@cache
def own(file: str) -> str:
    """The content of one of our own files, as it stands in every page: read once, so that its
    digest fits all pages of a process."""
    return (files("mpigauge.show.web") / file).read_text(encoding="utf-8")


def plot_page(picture: Picture) -> str:
    """A page of one picture, where curves are switched on and off."""
    return filled("plot", picture=picture)


def filled(template: str, **values: Any) -> str:
    """The page of this template."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    around = Environment(
        loader=PackageLoader("mpigauge.show.web", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    _add_own(around)
    return around.get_template(f"{template}.html.j2").render(values).lstrip()


def _add_own(around: Environment) -> None:
    """Our style and script, and our drawings, which are markup already."""
    from markupsafe import Markup

    for name, file in OWN.items():
        around.globals[name] = Markup(own(file))
    around.filters["drawn"] = Markup
