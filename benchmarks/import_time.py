"""Warm import time of porbnet: wall seconds of `import porbnet` in fresh processes, after a first one."""

from __future__ import annotations

import statistics
import subprocess
import sys

_CODE = "import time; t = time.perf_counter(); import porbnet; print(time.perf_counter() - t)"


def seconds() -> float:
    done = subprocess.run([sys.executable, "-c", _CODE], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    seconds()  # fills the disk cache
    times = sorted(seconds() for _ in range(9))
    print(f"import porbnet: best {times[0]:.3f} s, median {statistics.median(times):.3f} s, worst {times[-1]:.3f} s")


if __name__ == "__main__":
    main()
