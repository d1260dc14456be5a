"""Bridges to other libraries, one file each; nothing else in the package knows them."""
