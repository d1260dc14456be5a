"""Sweeps in windows: the curve of a learned intensity and the units under it, one place after the other.

A window is a small box. Given the curve on its edges (`kernels.bridge`), the units outside it, and the weights of those
of them that are not near, it is a problem of its own, with a handful of units: births, deaths and moves are made in it,
and the curve inside it is updated, together with these units. The weights of the units inside and of their neighbours
are integrated out meanwhile, and drawn when the window is left (`visit`). What a window costs does not depend on how
many there are, and what it achieves does not either.
"""
