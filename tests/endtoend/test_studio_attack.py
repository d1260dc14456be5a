"""What others may try on a running studio, over plain HTTP: every attempt fails, and the studio goes on."""

import glob
import json
import os
import socket
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")
pytestmark = pytest.mark.filterwarnings("ignore")

from studio_tools import StudioProcess, wait_until  # noqa: E402

LEARNED = {
    "lengthscale": "learned", "amplitude": "learned", "noise": "learned", "bias": "auto", "region": "auto",
    "units_per_lengthscale": "auto",
}  # fmt: skip
STATED = LEARNED | {"lengthscale": 1.0, "amplitude": 1.0, "noise": 0.1, "bias": 0.0, "region": [0.0, 10.0]}


@pytest.fixture(scope="module")
def studio():
    process = StudioProcess()
    process.enter()
    yield process
    process.close()
    assert "Traceback" not in "".join(process.said), "".join(process.said)


class Listener:
    """A browser's stream of events, which keeps a page alive."""

    def __init__(self, studio, page, read=True):
        self.socket = socket.create_connection(("127.0.0.1", studio.port), timeout=30)
        head = (
            f"GET /api/events?page={page} HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nCookie: {studio.cookie}\r\n\r\n"
        )
        self.socket.sendall(head.encode())
        self.received = b""
        if read:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while chunk := self.socket.recv(65536):
                self.received += chunk
        except OSError:
            pass

    def close(self):
        self.socket.close()


@pytest.fixture(scope="module")
def page(studio):
    identity = studio.page()
    listener = Listener(studio, identity)
    yield identity
    listener.close()


def test_the_page_says_what_may_be_loaded_and_run(studio):
    status, headers, body = studio.request("GET", "/")
    policy = headers["content-security-policy"]
    assert status == 200 and "unsafe" not in policy and "default-src 'none'" in policy
    assert b"<script>" not in body and b"style=" not in body and b"onclick" not in body and b"http://" not in body
    assert headers["x-content-type-options"] == "nosniff" and "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}"]
)
def test_a_foreign_host_is_refused(studio, host):
    for path in ("/", "/api/offer", f"/?token={studio.token}"):
        status, headers, _ = studio.request("GET", path, host=host.format(port=studio.port))
        assert status == 421 and "set-cookie" not in headers


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_a_foreign_origin_changes_nothing(studio, origin):
    given = None if origin is None else origin.format(port=studio.port)
    assert studio.request("POST", "/api/page", headers={"Origin": given})[0] == 403


def test_a_foreign_site_cannot_even_read(studio):
    for path in ("/api/offer", "/static/main.js", "/api/download?page=x&what=model"):
        assert studio.request("GET", path, headers={"Sec-Fetch-Site": "cross-site"})[0] == 403


@pytest.mark.parametrize("cookie", [None, "porbnet-studio-{port}=", "porbnet-studio-{port}=wrong", "other=1"])
def test_without_the_cookie_nothing_is_served(studio, cookie):
    given = None if cookie is None else cookie.format(port=studio.port)
    for path in ("/", "/static/main.js", "/api/offer", "/api/events?page=x"):
        status, _, body = studio.request("GET", path, headers={"Cookie": given})
        assert status == 403 and b"token" in body
    assert studio.request("POST", "/api/page", headers={"Cookie": given})[0] == 403


def test_a_wrong_token_gives_no_cookie(studio):
    for token in ("wrong", "", studio.token[:-1], studio.token + "x", "%00", "%C3%BC"):
        status, headers, _ = studio.request("GET", f"/?token={token}", headers={"Cookie": None})
        assert status == 403 and "set-cookie" not in headers
    cookie = studio.request("GET", f"/?token={studio.token}", headers={"Cookie": None})[1]["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and studio.token not in cookie


def test_the_launch_token_is_good_once():
    from porbnet.studio.doorkeeper import Tokens

    tokens = Tokens()
    launch = tokens.launch
    assert tokens.exchange(launch) and not tokens.exchange(launch)
    assert tokens.exchange(tokens.token) and tokens.exchange(tokens.token)


def test_no_path_leads_out(studio, page):
    for path in (
        "../server.py",
        "..%2fserver.py",
        "%2e%2e/doorkeeper.py",
        "....//x",
        "/etc/passwd",
        "main.js%00",
        "sub/main.js",
    ):
        assert studio.request("GET", f"/static/{path}")[0] in (404, 400)
    for what in ("../../etc/passwd", "model.npz", "/etc/passwd", ""):
        status, _, body = studio.request("GET", f"/api/download?page={page}&what={what}")
        assert status == 400 and b"root:" not in body
    found = studio.ask(page, {"ask": "data", "source": {"kind": "file", "name": "/etc/passwd", "path": "/etc/passwd"}})
    assert found["error"] == "there is no file yet: choose one"
    status, _, _ = studio.request("POST", f"/api/upload?page={page}&name=../../../evil.csv", b"a,b\n1,2\n2,3\n")
    assert status == 200 and not os.path.exists("/evil.csv")
    found = studio.ask(page, {"ask": "data", "source": {"kind": "file", "name": "../../../evil.csv"}})
    assert found["rows"] == 2


def test_files_are_private_and_go_with_the_server():
    own = StudioProcess()
    own.enter()
    page = own.page()
    listener = Listener(own, page)
    own.request("POST", f"/api/upload?page={page}&name=x.csv", b"a,b\n1,2\n2,3\n")
    opened = [p.cmdline()[-1] for p in map(psutil.Process, own.workers())]
    root = os.path.dirname(opened[0])
    assert stat.S_IMODE(os.stat(root).st_mode) == 0o700 and os.listdir(opened[0]) == ["upload"]
    workers = own.workers()
    listener.close()
    own.close()
    assert not os.path.exists(root)
    wait_until(lambda: not any(psutil.pid_exists(pid) for pid in workers), 5)


def test_a_file_that_is_too_large_is_refused_early(studio, page):
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", studio.port), timeout=20) as connection:
        connection.sendall(_upload_head(studio, page, f"Content-Length: {2**30}"))
        assert b" 413 " in connection.recv(65536).split(b"\r\n")[0]
    assert time.monotonic() - began < 2


def test_a_gigabyte_without_a_length_is_cut_off(studio, page):
    before, sent = psutil.Process(studio.process.pid).memory_info().rss, 0
    with socket.create_connection(("127.0.0.1", studio.port), timeout=20) as connection:
        connection.sendall(_upload_head(studio, page, "Transfer-Encoding: chunked"))
        chunk = b"100000\r\n" + b"1,2,3,4\n" * 2**17 + b"\r\n"
        try:
            for _ in range(1024):
                connection.sendall(chunk)
                sent += 2**20
        except OSError:
            pass
    assert sent < 200 * 2**20
    assert psutil.Process(studio.process.pid).memory_info().rss - before < 100 * 2**20
    folders = [p.cmdline()[-1] for p in map(psutil.Process, studio.workers())]
    kept = [os.path.getsize(entry) for folder in folders for entry in glob.glob(f"{folder}/upload/*")]
    assert sum(kept) < 1000  # nothing of it is left


def _upload_head(studio, page, length):
    return (
        f"POST /api/upload?page={page}&name=big.csv HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n"
        f"Origin: http://127.0.0.1:{studio.port}\r\nCookie: {studio.cookie}\r\n{length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize(
    "question",
    [b"", b"[]", b"{", b'{"ask": "write", "what": "model"}', b"[" * 100_000, b'{"ask": 1}', b"\xff\xfe"],
    ids=["empty", "list", "broken", "write", "deep", "number", "bytes"],
)
def test_questions_that_are_none(studio, page, question):
    status, _, body = studio.request("POST", f"/api/ask?page={page}", question)
    assert status == 400 or b"is not a question" in body


@pytest.mark.parametrize("ask", ["__init__", "answer", "fits", "unheard_of", "prior; import os", "_source"])
def test_only_questions_are_answered(studio, page, ask):
    assert "is not a question" in studio.ask(page, {"ask": ask})["error"]


def test_statements_that_are_none_get_words(studio, page):
    studio.ask(page, {"ask": "data", "source": None})
    for change in (
        {"lengthscale": -1}, {"lengthscale": {"knots": [[0, 1]]}}, {"amplitude": "huge"}, {"noise": None},
        {"lengthscale": {"knots": [[0, 1], [0, 2]]}}, {"region": "auto"}, {"lengthscale": 1e-9}, {"bias": [1]},
        {"region": [3, 2]}, {"other": 1},
    ):  # fmt: skip
        error = studio.ask(page, {"ask": "prior", "form": STATED | change})["error"]
        assert "should not happen" not in error and "Error" not in error, error
    assert "error" not in studio.ask(page, {"ask": "prior", "form": STATED})


@pytest.mark.slow
def test_a_page_closed_in_mid_fit_takes_its_worker_along(studio):
    page = studio.page()
    listener = Listener(studio, page)
    before = set(studio.workers())
    studio.ask(page, {"ask": "data", "source": {"kind": "example", "name": "heartrate"}})
    running = {"n_draws": 100_000, "n_warmup": 100}
    assert "fit" in studio.ask(page, {"ask": "fit", "form": LEARNED, "running": running})
    wait_until(lambda: b'"phase":"running"' in listener.received, 60)
    listener.close()
    took = wait_until(lambda: len(set(studio.workers()) & before) < len(before), 5)
    assert took < 5
    assert studio.request("POST", f"/api/ask?page={page}", b"{}")[0] == 404


def test_a_killed_worker_is_told_and_replaced(studio, page):
    assert "error" not in studio.ask(page, {"ask": "prior", "form": STATED})
    for pid in studio.workers():
        psutil.Process(pid).kill()
    wait_until(lambda: "error" not in studio.ask(page, {"ask": "prior", "form": STATED}), 20)


def test_a_thousand_requests_at_once(studio):
    with ThreadPoolExecutor(100) as pool:
        statuses = list(pool.map(lambda _: studio.request("GET", "/static/main.js", timeout=60)[0], range(1000)))
    assert set(statuses) <= {200, 503} and statuses.count(200) > 500
    assert studio.request("GET", "/")[0] == 200


@pytest.mark.slow
def test_slow_readers_cost_nothing(studio):
    page = studio.page()
    alive, slow = Listener(studio, page), [Listener(studio, page, read=False) for _ in range(20)]
    studio.ask(page, {"ask": "data", "source": {"kind": "example", "name": "motorcycle"}})
    studio.ask(page, {"ask": "fit", "form": LEARNED, "running": {"n_draws": 100_000, "n_warmup": 100, "seconds": 600}})
    wait_until(lambda: b'"phase":"running"' in alive.received, 60)
    before, seen = psutil.Process(studio.process.pid).memory_info().rss, alive.received.count(b"event: fit")
    time.sleep(3)
    assert alive.received.count(b"event: fit") - seen >= 3  # others are not held up
    assert psutil.Process(studio.process.pid).memory_info().rss - before < 30 * 2**20
    for listener in (alive, *slow):
        listener.close()


@pytest.mark.slow
def test_more_pages_than_there_may_be(studio):
    from porbnet.studio.pages import MOST_PAGES

    listeners = []
    for _ in range(MOST_PAGES + 1):
        status, _, body = studio.request("POST", "/api/page")
        if status != 200:
            break
        listeners.append(Listener(studio, json.loads(body)["page"]))
    assert status == 503 and "close one" in json.loads(body)["error"]
    for listener in listeners:
        listener.close()
    wait_until(lambda: len(studio.workers()) <= 1, 30)
