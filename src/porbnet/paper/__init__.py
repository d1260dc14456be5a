"""Every figure and table of the paper: numbers, pictures, and a verdict per claim.

`run` does what `porbnet paper` does. Needs the extra `paper`.
"""

from porbnet.paper.claims import VERDICTS
from porbnet.paper.run import RESULTS, Outcome, run
from porbnet.paper.settings import Settings

__all__ = ["RESULTS", "VERDICTS", "Outcome", "Settings", "run"]
