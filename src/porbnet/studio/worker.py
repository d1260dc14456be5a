"""The process that computes for one page: reads questions on standard input, writes answers on standard output.

It ends when its input does, so that it never outlives the server.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from porbnet.studio import wire


def main() -> None:
    """Answer until the input ends. The only argument is the page's private folder."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints, prints elsewhere
    questions = sys.stdin.buffer
    serve(questions, out, Path(sys.argv[1]))
    os._exit(0)  # chains may still run


def serve(questions: BinaryIO, out: BinaryIO, folder: Path) -> None:
    """Answer questions, one after the other; progress of a fit is told in between."""
    from porbnet.errors import PorbnetError
    from porbnet.studio.desk import Answer, Desk, body_of

    lock = threading.Lock()

    def send(header: dict[str, Any], arrays: Any) -> None:
        names, body = body_of(arrays)
        message = wire.packed({**header, "arrays": names}, body)
        with lock:
            out.write(message)
            out.flush()

    def tell(answer: Answer) -> None:
        send(*answer)

    desk = Desk(folder, tell)
    _warm(desk)
    rest = threading.Thread(target=_import_the_rest, daemon=True)
    while (message := wire.read(questions)) is not None:
        question, _ = message
        try:
            header, arrays = desk.answer(question)
        except (PorbnetError, ImportError) as error:
            header, arrays = {"error": str(error)}, {}
        except MemoryError:
            header, arrays = {"error": "there is not enough memory for this"}, {}
        except Exception as error:
            traceback.print_exc()
            header, arrays = {"error": f"this should not happen, please report it: {type(error).__name__}: {error}"}, {}
        send({**header, "id": question.get("id")}, arrays)
        if rest.ident is None and question.get("ask") == "data":
            rest.start()  # while the user looks at the data


def _warm(desk: Any) -> None:
    """Import and compile what the first statement needs before it is asked for, and beside it what others will."""
    with contextlib.suppress(Exception):
        form = {"lengthscale": {"knots": [[0.0, 0.5], [1.0, 0.6]]}, "amplitude": 1.0, "noise": 0.1, "bias": 0.0,
                "region": [0.0, 1.0], "units_per_lengthscale": "auto"}  # fmt: skip
        desk.answer({"ask": "prior", "form": form})


def _import_the_rest() -> None:
    for name in ("arviz_stats.base", "porbnet.studio.counterparts", "porbnet.studio.take_away"):
        importlib.import_module(name)


if __name__ == "__main__":
    main()
