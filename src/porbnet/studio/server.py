"""The routes of the studio, on starlette: what is static, questions to a page's worker, its events, its files."""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import AsyncIterator
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from porbnet.errors import StatementError
from porbnet.studio import uploads
from porbnet.studio.example_data import EXAMPLES
from porbnet.studio.pages import Look, Page, Pages

_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "txt": "text/plain", "svg": "image/svg+xml"}
_MOST_QUESTION = 2**20  # bytes
_FILES = {"model.npz": "application/octet-stream", "report.html": "text/html", "predictions.csv": "text/csv"}
_PING = 15.0


def _static() -> dict[str, tuple[bytes, str]]:
    """Every file that may be asked for, by name: nothing else is ever opened."""
    folder = resources.files("porbnet.studio").joinpath("static")
    files = {entry.name: entry for entry in folder.iterdir() if entry.is_file()}
    return {name: (entry.read_bytes(), _KINDS[name.rsplit(".", 1)[1]]) for name, entry in files.items()}


class Studio:
    """The application.

    Parameters
    ----------
    opened : dict, optional
        A file that was given when the studio was started: its name and where it is.
    """

    def __init__(self, opened: tuple[str, bytes] | None = None) -> None:
        self.pages = Pages()
        self.opened = opened
        self._files = _static()
        self.app = Starlette(
            routes=[
                Route("/", self.index),
                Route("/static/{name}", self.static),
                Route("/api/offer", self.offer),
                Route("/api/page", self.open, methods=["POST"]),
                Route("/api/ask", self.ask, methods=["POST"]),
                Route("/api/upload", self.upload, methods=["POST"]),
                Route("/api/events", self.events),
                Route("/api/download", self.download),
            ],
            lifespan=self._life,
        )

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        await self.pages.start()
        try:
            yield
        finally:
            await self.pages.close()

    async def index(self, request: Request) -> Response:
        """The page."""
        return self._file("index.html")

    async def static(self, request: Request) -> Response:
        """What the page is made of."""
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        if name not in self._files:
            return _refused(404, "there is no such file")
        body, kind = self._files[name]
        return Response(body, media_type=kind)

    async def offer(self, request: Request) -> Response:
        """What a page may offer."""
        examples = {name: example.title for name, example in EXAMPLES.items()}
        return JSONResponse({"examples": examples, "most_bytes": uploads.MOST_BYTES})

    async def open(self, request: Request) -> Response:
        """A new page: its id, and the name of the file that the studio was started with."""
        try:
            page = await self.pages.open()
        except StatementError as error:
            return _refused(503, str(error))
        found: dict[str, Any] = {"page": page.identity}
        if self.opened is not None:
            name, content = self.opened
            place = page.folder / "upload"
            place.mkdir(mode=0o700, exist_ok=True)
            (place / f"data{uploads.suffix_of(name)}").write_bytes(content)
            found["file"] = name
        return JSONResponse(found)

    async def ask(self, request: Request) -> Response:
        """A question to the page's worker; the answer is a length, JSON and numbers."""
        page = self._page(request)
        if page is None:
            return _no_page()
        content = b""
        async for chunk in request.stream():
            content += chunk
            if len(content) > _MOST_QUESTION:
                return _refused(413, "the question is too long")
        try:
            question = json.loads(content)
            if not isinstance(question, dict):
                raise ValueError
        except (ValueError, RecursionError):
            return _refused(400, "the question is not JSON")
        if question.get("ask") == "write":  # files are asked for by downloading them
            return _refused(400, "files are downloaded")
        header, body = await page.ask(question)
        header.pop("id", None)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)  # numbers begin where a browser can look at them in place
        return Response(struct.pack("<I", len(text)) + text + body, media_type="application/octet-stream")

    async def upload(self, request: Request) -> Response:
        """A file for the page."""
        page = self._page(request)
        if page is None:
            return _no_page()
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > uploads.MOST_BYTES:
            return _refused(413, str(uploads.too_large(int(length))), close=True)
        if page.uploading.locked():
            return _refused(409, "another file is on its way: wait for it", close=True)
        async with page.uploading:
            try:
                size = await uploads.receive(request.stream(), request.query_params.get("name", ""), page.folder)
            except StatementError as error:
                return _refused(413, str(error), close=True)
            except ClientDisconnect:
                return _refused(400, "the file did not arrive whole")
        return JSONResponse({"bytes": size})

    async def events(self, request: Request) -> Response:
        """What happens on the page, as server-sent events."""
        page = self._page(request)
        if page is None:
            return _no_page()
        return StreamingResponse(_looking(page), media_type="text/event-stream")

    async def download(self, request: Request) -> Response:
        """The model, the report or the predictions of the page's fit."""
        page = self._page(request)
        if page is None:
            return _no_page()
        header, _ = await page.ask({"ask": "write", "what": request.query_params.get("what")})
        name = header.get("file")
        if "error" in header or name not in _FILES:
            return _refused(400, str(header.get("error", "there is no such file")))
        return FileResponse(page.folder / name, media_type=_FILES[name], filename=name)

    def _page(self, request: Request) -> Page | None:
        return self.pages.find(request.query_params.get("page"))


async def _looking(page: Page) -> AsyncIterator[bytes]:
    """Events of a page for as long as the browser listens."""
    import asyncio
    import time

    look = Look()
    page.looks.add(look)
    try:
        yield b"retry: 1000\n\n"
        while not look.last:
            try:
                yield await asyncio.wait_for(look.next(), _PING)
            except TimeoutError:
                yield b": still here\n\n"
    finally:
        page.looks.discard(look)
        page.last_look = time.monotonic()


def _refused(status: int, words: str, close: bool = False) -> Response:
    return JSONResponse({"error": words}, status, {"connection": "close"} if close else None)


def _no_page() -> Response:
    return _refused(404, "this page is no longer open here")
