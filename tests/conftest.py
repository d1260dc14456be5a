"""Shared by all tests: a seed from the test's own name, and Ctrl-C as in a terminal."""

import signal
import zlib

import pytest


@pytest.fixture
def seed(request):
    """A whole number that depends on the test's name alone, so that adding a test moves no other."""
    return zlib.crc32(request.node.nodeid.encode())


@pytest.fixture(scope="session", autouse=True)
def _interrupts_are_heard():
    """A shell makes its background jobs ignore SIGINT, and their children too; some tests send it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """The longest test first: at the end one worker would wait for it."""
    items.sort(key=lambda item: "test_mutants_are_rejected" not in item.nodeid)
