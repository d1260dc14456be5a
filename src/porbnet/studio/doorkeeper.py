"""Who may talk to the studio: the right Host, the right Origin, a cookie that only the launch token gives.

Every request passes here first, whatever it asks for. The rules, in order:

1. `Host` must be an address that the studio was started on. A page elsewhere whose name was made to point to this
   machine (DNS rebinding) sends its own name, and is refused.
2. A request that changes anything must say in `Origin` that it comes from the studio's own page; one that the browser
   marks as coming from another site (`Sec-Fetch-Site`) is refused, whatever it asks for, but for opening the page.
3. `/?token=...` gives a cookie for the token: the one that is printed, or that of the first launch, which is good once.
4. Everything else needs the cookie.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
]
_SAFE = ("GET", "HEAD")


class Tokens:
    """The secrets of one run: a token that is printed, one for the first launch that is good once, and the cookie."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self.launch: str | None = secrets.token_urlsafe(24)
        self.cookie = secrets.token_urlsafe(32)

    def exchange(self, given: str) -> bool:
        """Whether a token is good for a cookie; the launch token is so once."""
        if self.launch is not None and hmac.compare_digest(given.encode(), self.launch.encode()):
            self.launch = None
            return True
        return hmac.compare_digest(given.encode(), self.token.encode())

    def knows(self, cookie: str) -> bool:
        """Whether it is the cookie."""
        return hmac.compare_digest(cookie.encode(), self.cookie.encode())


class Guard:
    """The rules above, around an application.

    Parameters
    ----------
    app : ASGI application
    tokens : Tokens
    hosts : set of str
        What `Host` may say, with the port.
    port : int
        Cookies do not know ports: their name does.
    """

    def __init__(self, app: App, tokens: Tokens, hosts: set[str], port: int) -> None:
        self.app, self.tokens, self.hosts = app, tokens, hosts
        self.name = f"porbnet-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("only HTTP is served")
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        refused = self._refused(scope, headers)
        if refused is not None:
            await _say(send, *refused)
            return
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if scope["path"] == "/" and scope["method"] == "GET" and given:
            await self._exchange(send, given[0])
            return
        if not self._has_cookie(headers):
            words = "Open the address that `porbnet studio` has printed: it has a token that lets this browser in."
            await _say(send, 403, words)
            return
        await self.app(scope, receive, _with_headers(send))

    def _refused(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str] | None:
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return 421, "This is not a name of the studio."
        site = headers.get("sec-fetch-site", ["none"])[-1]
        opening = scope["path"] == "/" and scope["method"] == "GET"
        if site not in ("same-origin", "none") and not opening:
            return 403, "Another site may not ask this."
        if scope["method"] in _SAFE:
            return None
        if headers.get("origin", []) != [f"http://{host[0].lower()}"]:
            return 403, "Only the studio's own page may ask this."
        return None

    def _has_cookie(self, headers: dict[str, list[str]]) -> bool:
        pairs = [part.strip().partition("=") for line in headers.get("cookie", []) for part in line.split(";")]
        return any(name == self.name and self.tokens.knows(value) for name, _, value in pairs)

    async def _exchange(self, send: Send, given: str) -> None:
        if not self.tokens.exchange(given):
            await _say(send, 403, "This token is not, or no longer, good: open the address that is printed.")
            return
        cookie = f"{self.name}={self.tokens.cookie}; HttpOnly; SameSite=Strict; Path=/"
        # a page that goes on by itself: a strict cookie is not sent where a redirect began on another site
        head = '<meta http-equiv="refresh" content="0;url=/"><link rel="icon" href="/static/icon.svg">'
        text = f"<!DOCTYPE html>{head}<title>porbnet studio</title>"
        await _answer(send, 200, text, [(b"set-cookie", cookie.encode())])


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending


async def _say(send: Send, status: int, words: str) -> None:
    title = "porbnet studio"
    text = f'<!DOCTYPE html><html lang="en"><title>{title}</title><h1>{title}</h1><p>{escape(words)}</p></html>'
    await _answer(send, status, text, [(b"connection", b"close")])


async def _answer(send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]]) -> None:
    kind = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(text.encode())).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *headers, *HEADERS]})
    await send({"type": "http.response.body", "body": text.encode()})
