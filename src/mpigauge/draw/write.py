# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes pictures to files: drawings are SVG, converted to the format of the file name's suffix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.errors import RunError, UserError
from mpigauge.model.extras import require

if TYPE_CHECKING:
    from pathlib import Path

PNG_SCALE = 2.0
"""Pixels per unit of the picture: sharp on high-resolution screens, and on paper."""


def _svg(text: str) -> bytes:
    return text.encode()


def _png(text: str) -> bytes:
    import vl_convert

    return vl_convert.svg_to_png(text, scale=PNG_SCALE)


def _pdf(text: str) -> bytes:
    import vl_convert

    return vl_convert.svg_to_pdf(text)


KINDS: dict[str, Callable[[str], bytes]] = {".svg": _svg, ".png": _png, ".pdf": _pdf}
OF_EXTRA = (".png", ".pdf")


def check_picture(file: Path, option: str, more: Sequence[str] = ()) -> None:
    """Checks a file name before anything is measured or drawn for it. `more`: other valid suffixes.
    UserError: the picture could not be drawn or stored."""
    suffixes = [*KINDS, *more]
    if file.suffix not in suffixes:
        raise UserError(
            f"{option} {file}: cannot draw that; the name of a picture ends with {_or(suffixes)}"
        )
    if file.suffix in OF_EXTRA:
        require("pictures", f"{option} {file}")
    check_folder(file, option)


def check_folder(file: Path, option: str) -> None:
    folder = file.absolute().parent
    if not folder.is_dir():
        raise UserError(f"{option} {file}: there is no folder {folder}")


def draw(svg: str, file: Path) -> None:
    """Writes a picture in the format of the file name's suffix. RunError: it cannot be written."""
    try:
        file.write_bytes(KINDS[file.suffix](svg))
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}") from None


def _or(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
