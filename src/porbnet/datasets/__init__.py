"""Small data sets to try things on: two real series, two surfaces with a known truth, and the VIX through `arch`.

=================  =======================================================  ====  ==========
`load_motorcycle`  head acceleration in simulated motorcycle accidents      133   1 input
`load_heartrate`   beat-to-beat heart rate with ectopic beats               500   1 input
`load_exp2d`       a bump and a dip in one corner of a flat square          200   2 inputs
`load_chirp2d`     ripples whose wavelength shrinks across a square         300   2 inputs
`load_vix`         volatility index of one year (needs the package `arch`)  251   1 input
`load_mimic`       a series of your own from MIMIC, which is not shipped          1 input
=================  =======================================================  ====  ==========
"""

from porbnet.datasets.loaders import (
    Dataset,
    load_chirp2d,
    load_exp2d,
    load_heartrate,
    load_mimic,
    load_motorcycle,
    load_vix,
)

__all__ = ["Dataset", "load_chirp2d", "load_exp2d", "load_heartrate", "load_mimic", "load_motorcycle", "load_vix"]
