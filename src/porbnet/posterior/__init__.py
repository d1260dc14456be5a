"""Draws in the units of the data, and everything that is read off them."""
