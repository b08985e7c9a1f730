# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tables of words as Markdown and as LaTeX, to be pasted elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mpigauge.model.width import one_line

_IN_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "±": r"$\pm$", "µ": r"$\mu$", "×": r"$\times$", "–": "--", "…": r"\ldots{}", "·": r"$\cdot$",
    "α": r"$\alpha$", "β": r"$\beta$", "½": r"$\frac{1}{2}$", "“": "``", "”": "''", "’": "'",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "*": r"\textasteriskcentered{}", "[": "{[}", "]": "{]}", "`": "{`}",
}  # fmt: skip
_SIGNS = re.compile("|".join(map(re.escape, _IN_LATEX)))
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffd]")
"""Letters that no font has, or that would end a line."""
_IN_MARKDOWN = re.compile(r"[\\`*_~|<>\[\]&#$]|:(?=//)|(?<=www)\.|^[-+=](?=[-+=\s]|$)")
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
"""The beginning of a line that Markdown takes for an item of a list."""


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 0) -> list[str]:
    """Words are Markdown already. The first `left` columns begin alike, the others end alike."""
    rule = [":--"] * left + ["--:"] * (len(heads) - left)
    return [f"| {' | '.join(words)} |" for words in (heads, rule, *rows)]


def latex_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 0, last: int = 0
) -> list[str]:
    """Words are LaTeX already. Rules are those of booktabs; the `last` rows stand below one."""
    columns = "l" * left + "r" * (len(heads) - left)
    body = [f"{' & '.join(words)} \\\\" for words in rows]
    end = len(body) - last
    foot = [r"\midrule", *body[end:]] if last else []
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        f"{' & '.join(heads)} \\\\",
        r"\midrule",
        *body[:end],
        *foot,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def commented(lines: Iterable[str]) -> list[str]:
    """Lines as comments of LaTeX."""
    return [f"% {one_line(line)}" for line in lines]


def in_markdown(text: str) -> str:
    """Words that mean nothing else in Markdown, in one line."""
    return _NUMBERED.sub(r"\1\\\2", _IN_MARKDOWN.sub(r"\\\g<0>", one_line(text).strip()))


def in_latex(text: str) -> str:
    """Words that mean nothing else in LaTeX, in one line and in signs that every one of its fonts
    has."""
    return _SIGNS.sub(lambda match: _IN_LATEX[match[0]], _CONTROL.sub("?", text))
