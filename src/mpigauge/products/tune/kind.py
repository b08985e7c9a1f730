# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tunings: folders of rules with the runs that led to them and confirmed them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.options import USUAL_FORMAT
from mpigauge.cli.runs.kinds import Kind, Listed, ShowOptions, kind
from mpigauge.model.errors import UserError
from mpigauge.model.units import many
from mpigauge.runs.store.tunings import holds_tuning, load_tuning, tuning_folders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.runs.store.tunings import Tuning


@kind("tuning")
class Tunings(Kind):
    def is_this(self, word: str) -> bool:
        return holds_tuning(Path(word))

    def show(self, word: str, how: ShowOptions) -> None:
        """Prints the rules of a tuning, their evidence, and where the default stays."""
        if how.pivot or how.to or how.only_remarks or how.limits_of:
            raise UserError(
                f"{word} is a tuning: rules and their evidence are shown without options"
            )
        print_tuning(Path(word), how.form or USUAL_FORMAT)

    def page(
        self,
        words: Sequence[str],
        limits_of: str | None = None,
        home: str = "",
        job: int | None = None,
    ) -> str:
        del job
        """Returns the page of the run that confirmed the rules, with what they have gained."""
        from mpigauge.products.tune.show.page import page_of

        if len(words) > 1:
            raise UserError("the page of a tuning is about one alone; name one folder")
        return page_of(Path(words[0]), self.explained, limits_of, home)

    def folders(self, root: Path) -> Sequence[Listed]:
        return [_listed(path) for path in tuning_folders(root).values()]


def print_tuning(folder: Path, form: str) -> None:
    """Prints a tuning as text or JSON. UserError: there is no such form of it."""
    from mpigauge.cli.output import write, write_lines
    from mpigauge.products.tune.show.curves import curve_lines
    from mpigauge.products.tune.show.text import lines_of

    tuning = load_tuning(folder)
    if form == "json":
        write(json.dumps(tuning.to_json(), indent=1, ensure_ascii=False) + "\n")
    elif form == USUAL_FORMAT:
        write_lines([*lines_of(tuning), *curve_lines(folder)])
    else:
        raise UserError(
            f"--format {form} prints no tunings, and {folder} is one; take table or json"
        )


def _listed(path: Path) -> Listed:
    try:
        tuning = load_tuning(path)
    except UserError as error:
        return Listed(path, about=f"{str(error).removesuffix('.')}.")
    return Listed(path, tuning.mpi.label, tuning.hostname, _rules_in_words(tuning))


def _rules_in_words(tuning: Tuning) -> str:
    """Returns the number of rules and their collectives."""
    collectives = dict.fromkeys(each.rule.collective for each in tuning.rules)
    parts = [f"{name}={value}" for name, value in tuning.message_settings.items()]
    if tuning.rules:
        parts.append(f"{many(len(tuning.rules), 'rule')}: {', '.join(collectives)}")
    return "; ".join(parts) or "no rule: the default stays everywhere"
