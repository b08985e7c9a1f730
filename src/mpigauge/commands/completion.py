# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge completion: prints the script with which a shell completes our words."""

from __future__ import annotations

import click

from mpigauge.cli.helping import Command

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MPIGAUGE_COMPLETE"
"""The variable by which the script of a shell asks for words."""


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that makes a shell complete commands, options, benchmarks, runs, MPIs,
    transports, placements and settings.

    For bash, in ~/.bashrc: eval "$(mpigauge completion bash)"; zsh likewise in ~/.zshrc; for fish:
    mpigauge completion fish > ~/.config/fish/completions/mpigauge.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    group = ctx.find_root().command
    if kind is None:
        raise RuntimeError(f"click does not support the shell {shell}")
    script = kind(group, {}, "mpigauge", VARIABLE)
    click.echo(script.source_template % script.source_vars())
