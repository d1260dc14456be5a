"""Shared by all tests: a seed from the test's own name."""

import zlib

import pytest


@pytest.fixture
def seed(request):
    """A whole number that depends on the test's name alone, so that adding a test moves no other."""
    return zlib.crc32(request.node.nodeid.encode())


def pytest_collection_modifyitems(items):
    """The longest test first: at the end one worker would wait for it."""
    items.sort(key=lambda item: "test_mutants_are_rejected" not in item.nodeid)
