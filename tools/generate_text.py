# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What all generated files have in common: their heads, comments and literals."""

from __future__ import annotations

import textwrap

LICENCE = ("SPDX-License-Identifier: BSD-3-Clause", "Copyright the mpigauge authors")


def made_by(schema: str) -> str:
    return f"Made by tools/generate.py from {schema}: change that file, not this one."


def head(schema: str, mark: str) -> list[str]:
    """The first lines, each a comment."""
    return [f"{mark} {line}" for line in (*LICENCE, made_by(schema))]


def cpp_header(schema: str, body: list[str], *includes: str, namespace: str = "mpigauge") -> str:
    """A header with these includes, those of the standard library (in angle brackets) first."""
    standard = [f"#include {name}" for name in includes if name.startswith("<")]
    ours = sorted({f'#include "{name}"' for name in includes if not name.startswith("<")})
    lines = [*head(schema, "//"), "// clang-format off", "#pragma once", ""]
    lines += [*standard, "", *ours, *([""] if ours else [])]
    lines += [f"namespace {namespace} {{", "", *body, f"}}  // namespace {namespace}", ""]
    return "\n".join(lines)


def cpp_comment(text: str, indent: str = "") -> list[str]:
    mark = f"{indent}/// "
    return textwrap.wrap(text, 100, initial_indent=mark, subsequent_indent=mark)


def docstring(text: str) -> list[str]:
    """Of a class or a field, as ruff format leaves it."""
    lines = textwrap.wrap(f'"""{text}', 96)
    last = [f'{lines.pop()}"""'] if len(lines[-1]) <= 93 else ['"""']
    return [f"    {line}" for line in (*lines, *last)]


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def wrapped(text: str) -> str:
    """A literal of Python as ruff format leaves it; long ones go over several lines."""
    if len(text) < 90:
        return quoted(text)
    literals = [quoted(part) for part in textwrap.wrap(text, 80, drop_whitespace=False)]
    return "\n".join(["(", *(f"            {literal}" for literal in literals), "        )"])
