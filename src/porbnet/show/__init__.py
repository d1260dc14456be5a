"""A fit as text, in a notebook, as a page."""
