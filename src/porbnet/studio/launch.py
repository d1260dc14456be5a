"""Start the studio: a socket, a server on it, and the browser."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from porbnet.errors import StatementError
from porbnet.studio import uploads
from porbnet.studio.doorkeeper import Guard, Tokens

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MOST_CONNECTIONS = 512  # beyond, a connection is answered "busy"
_NEEDED = "the studio needs starlette and uvicorn: pip install 'porbnet[studio]'"


def serve(data: Path | None, host: str, port: int, browser: bool, tell: Callable[[str], None]) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    data : Path, optional
        A table to begin with; it is read once, now.
    host, port : where to listen; port 0 is any that is free
    browser : whether to open one
    tell : takes a line for the user
    """
    try:
        import uvicorn

        from porbnet.studio.server import Studio
    except ImportError as error:
        raise StatementError(_NEEDED) from error
    opened = None if data is None else (data.name, _content(data))
    listening = _socket(host, port)
    port = int(listening.getsockname()[1])
    tokens = Tokens()
    address = _address(host, port)
    studio = Studio(opened)
    guarded: Any = Guard(studio.app, tokens, _hosts(host, port), port)
    if host not in _LOOPBACK:
        tell(f"warning: listening on {host}, not on this machine alone: who has its address and token can use it")
    tell(f"studio: {address}/?token={tokens.token}")
    tell("Ctrl-C ends it")
    config = uvicorn.Config(
        guarded, log_level="error", access_log=False, server_header=False, date_header=False, lifespan="on", ws="none",
        limit_concurrency=_MOST_CONNECTIONS, timeout_keep_alive=5, timeout_graceful_shutdown=1, proxy_headers=False,
        h11_max_incomplete_event_size=32_768,
    )  # fmt: skip

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            studio.pages.leave()  # streams that are open would hold up the end
            super().handle_exit(sig, frame)

    server = Server(config)
    if browser:
        threading.Thread(target=_open, args=(server, f"{address}/?token={tokens.launch}"), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt), listening:
        asyncio.run(server.serve(sockets=[listening]))


def _open(server: Any, address: str) -> None:
    """Open the browser when the server is up, on an address that is good once."""
    import time

    while not server.started:
        time.sleep(0.02)
    webbrowser.open(address)


def _content(path: Path) -> bytes:
    try:
        size = os.stat(path).st_size
        if size > uploads.MOST_BYTES:
            raise uploads.too_large(size)
        return path.read_bytes()
    except OSError as error:
        raise StatementError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def _socket(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(where)
        found.listen(1024)
        return found
    except (OSError, OverflowError) as error:
        raise StatementError(f"the studio cannot listen on {host}, port {port}: {error}") from error


def _address(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _hosts(host: str, port: int) -> set[str]:
    """What `Host` may say."""
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host.lower()}
    if host in ("0.0.0.0", "::"):  # asked for: every address of this machine
        found = socket.getaddrinfo(socket.gethostname(), None)
        names |= {socket.gethostname().lower(), *(str(a[4][0]) for a in found if ":" not in str(a[4][0]))}
    return {f"{name}:{port}" for name in names} | ({*names} if port == 80 else set())
