"""A studio in a process of its own, and ways to talk to it without a browser."""

import contextlib
import http.client
import json
import os
import re
import struct
import subprocess
import sys
import threading
import time

import numpy as np


class StudioProcess:
    """`porbnet studio --no-browser`, with its address and token."""

    def __init__(self, *arguments):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "porbnet", "studio", "--no-browser", *arguments],
            stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.address = re.search(r"http\S+", self.process.stderr.readline())[0]
        self.port = int(re.search(r":(\d+)/", self.address)[1])
        self.token = self.address.split("token=")[1]
        self.said = []
        self._reading = threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True)
        self._reading.start()
        self.cookie = None

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self._reading.join(5)
        self.process.stderr.close()

    def request(self, method, path, body=None, headers=None, host=None, timeout=20):
        """Status, headers and body, exactly as asked: a header that is None is not sent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        given = {"Host": host or f"127.0.0.1:{self.port}", "Origin": f"http://127.0.0.1:{self.port}"}
        if self.cookie:
            given["Cookie"] = self.cookie
        given |= headers or {}
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def enter(self):
        """Exchange the token for the cookie."""
        status, headers, _ = self.request("GET", f"/?token={self.token}")
        assert status == 200
        self.cookie = headers["set-cookie"].split(";")[0]

    def page(self):
        status, _, body = self.request("POST", "/api/page")
        assert status == 200, body
        return json.loads(body)["page"]

    def ask(self, page, question, timeout=60):
        status, _, body = self.request("POST", f"/api/ask?page={page}", json.dumps(question).encode(), timeout=timeout)
        assert status == 200, body
        length = struct.unpack("<I", body[:4])[0]
        header, at = json.loads(body[4 : 4 + length]), 4 + length
        for name, shape in header.get("arrays", []):
            size = int(np.prod(shape))
            header[name] = np.frombuffer(body, "<f4", size, at).reshape(shape)
            at += 4 * size
        return header

    def workers(self):
        """Process ids of the workers."""
        import psutil

        with contextlib.suppress(psutil.NoSuchProcess):
            return [c.pid for c in psutil.Process(self.process.pid).children(recursive=True)]
        return []


def wait_until(condition, seconds, every=0.05):
    """Seconds until a condition holds; fails if it does not in time."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        time.sleep(every)
    return time.monotonic() - began
