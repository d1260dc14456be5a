"""What every command does beside its work: a second --region is wrong usage, Ctrl-C is heard, warnings are lines."""

from __future__ import annotations

from collections import Counter
from typing import Any

import typer
from typer.core import TyperCommand

from porbnet.cli.common import INTERRUPTED, fail, gathered_warnings, note

_ONCE = ("region",)  # of other options the last one counts, so that defaults of a script can be overruled


class Command(TyperCommand):
    """A command that tells what it does not take."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As always, but the last of several regions does not win silently."""
        *_, order = self.make_parser(ctx).parse_args(args=list(args))
        counts = Counter(parameter for parameter in order if parameter.param_type_name == "option")
        for parameter, n in counts.items():
            if n > 1 and parameter.name in _ONCE and not parameter.multiple:
                message = f"it was given {n} times, and can be given once: there is one input"
                raise typer.BadParameter(message, ctx=ctx, param_hint=parameter.opts[0])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """As always, but an interrupt says so, and warnings are lines of their own, without those of libraries."""
        quiet = any(ctx.params.get(name) for name in ("quiet", "as_json"))
        said: list[str] = []
        try:
            with gathered_warnings() as said:
                return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("interrupted", INTERRUPTED)
        finally:
            for text in said:
                note(f"warning: {text}", quiet)
