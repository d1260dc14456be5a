"""What every command does about its arguments: an option given twice is wrong usage, and Ctrl-C is heard."""

from __future__ import annotations

from collections import Counter
from typing import Any

import typer
from typer.core import TyperCommand

from porbnet.cli.common import INTERRUPTED, fail


class Command(TyperCommand):
    """A command that takes an option once, unless it is meant to be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As always, but the last of several does not win silently."""
        *_, order = self.make_parser(ctx).parse_args(args=list(args))
        counts = Counter(parameter for parameter in order if parameter.param_type_name == "option")
        for parameter, n in counts.items():
            if n > 1 and not (parameter.multiple or getattr(parameter, "is_flag", False) or parameter.nargs != 1):
                message = f"it was given {n} times, and can be given once"
                raise typer.BadParameter(message, ctx=ctx, param_hint=parameter.opts[0])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """As always, but an interrupt says so."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("interrupted", INTERRUPTED)
