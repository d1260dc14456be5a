"""Pages: each has an id, a private folder and a worker; when nobody looks at it any more, all of that goes."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from porbnet.errors import StatementError
from porbnet.studio.helper_process import HelperProcess

MOST_PAGES = 6
GRACE = 3.0  # seconds between the last look at a page and its end: a page that is loaded again comes back within
FIRST_LOOK = 20.0  # seconds that a page has to begin to look


class Look:
    """One stream of events to a browser: only the newest of each kind waits, however slowly it is read."""

    def __init__(self) -> None:
        self._newest: dict[str, bytes] = {}
        self._ready = asyncio.Event()
        self.last = False  # whether what is told next is the last

    def put(self, kind: str, event: bytes) -> None:
        """Something to tell; what has not been read of its kind is dropped."""
        self._newest[kind] = event
        self._ready.set()

    async def next(self) -> bytes:
        """What is new, when there is something."""
        await self._ready.wait()
        self._ready.clear()
        events, self._newest = b"".join(self._newest.values()), {}
        return events


class Page:
    """One page of the studio."""

    def __init__(self, identity: str, folder: Path, helper: HelperProcess) -> None:
        self.identity, self.folder, self.helper = identity, folder, helper
        self.looks: set[Look] = set()
        self.last_look = time.monotonic() + FIRST_LOOK - GRACE
        self.uploading = asyncio.Lock()
        self._starting = asyncio.Lock()
        helper.on_event = self._event

    def _event(self, header: dict[str, Any], body: bytes) -> None:
        if not self.looks:
            return
        text = json.dumps({**header, "body": base64.b64encode(body).decode("ascii")}, separators=(",", ":"))
        kind = str(header.get("event", "fit"))
        for look in self.looks:
            look.put(kind, f"event: {kind}\ndata: {text}\n\n".encode())

    async def ask(self, question: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Ask the worker; if it has ended, a new one."""
        async with self._starting:
            if not self.helper.alive:
                self.helper = HelperProcess(self.folder)
                self.helper.on_event = self._event
                await self.helper.start()
        return await self.helper.ask(question)

    @property
    def abandoned(self) -> bool:
        """Whether nobody has looked for a while."""
        return not self.looks and time.monotonic() - self.last_look > GRACE


class Pages:
    """All pages of a server, in one private folder."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="porbnet-studio-"))  # readable by its owner alone
        self._pages: dict[str, Page] = {}
        self._spare: Page | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Have a worker ready for the first page, and sweep up from now on."""
        self._spare = await self._made()
        self._sweeper = asyncio.create_task(self._sweep())

    async def _made(self) -> Page:
        identity = secrets.token_urlsafe(16)
        folder = self.root / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        helper = HelperProcess(folder)
        await helper.start()
        return Page(identity, folder, helper)

    async def open(self) -> Page:
        """A new page."""
        if len(self._pages) >= MOST_PAGES:
            raise StatementError(
                f"{MOST_PAGES} pages of the studio are open, and that is as many as there may be: close one"
            )
        page, self._spare = self._spare, None
        if page is None:
            page = await self._made()
        page.last_look = time.monotonic() + FIRST_LOOK - GRACE
        self._pages[page.identity] = page
        return page

    def find(self, identity: str | None) -> Page | None:
        """A page by its id."""
        return self._pages.get(identity or "")

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            for identity, page in list(self._pages.items()):
                if page.abandoned:
                    del self._pages[identity]
                    task = asyncio.create_task(self._end(page))
                    self._ending.add(task)
                    task.add_done_callback(self._ending.discard)

    async def _end(self, page: Page) -> None:
        await page.helper.end()
        await asyncio.to_thread(shutil.rmtree, page.folder, True)

    def leave(self) -> None:
        """Tell all pages that the studio ends, and end their streams."""
        for page in self._pages.values():
            for look in page.looks:
                look.last = True
                look.put("bye", b"event: bye\ndata: {}\n\n")

    async def close(self) -> None:
        """End all workers and remove all files."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        pages = [*self._pages.values(), *([] if self._spare is None else [self._spare])]
        self._pages.clear()
        with contextlib.suppress(Exception):
            await asyncio.gather(*(self._end(page) for page in pages), *self._ending)
        shutil.rmtree(self.root, ignore_errors=True)
