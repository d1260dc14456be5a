"""A file larger than memory: a Parquet file of 2 GB fitted by `porbnet fit` within 1 GB of memory.

The file (x uniform, y = sin 40x² with noise 0.3, as they are: nothing in it to compress) is made in a temporary folder
and deleted at the end. Memory is the peak of the command, from start to pictures, as the operating system has it.

Run it with `python benchmarks/large_file.py`, or with `--megabytes 200` for a small one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_ROWS = 1_000_000  # of a row group


def make(path: Path, megabytes: int) -> int:
    """Write the file; returns its number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, n = np.random.default_rng(0), 0
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        while not path.exists() or path.stat().st_size < megabytes * 1e6:
            x = rng.uniform(size=_ROWS)
            y = np.sin(40.0 * x * x) + 0.3 * rng.standard_normal(_ROWS)
            writer.write_table(pa.table([x, y], schema=schema), row_group_size=_ROWS)
            n += _ROWS
    return n


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=2000, help="size of the file")
    parser.add_argument("--limit", type=int, default=1000, help="megabytes of memory that it may take")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        n = make(path, options.megabytes)
        print(f"{path.stat().st_size / 1e6:,.0f} MB, {n:,} rows", flush=True)
        command = [sys.executable, "-m", "porbnet", "fit", str(path), "--out", f"{folder}/fit", "--json", "--chunked"]
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        wall = time.perf_counter() - start
        if done.returncode not in (0, 3):  # 3: not converged
            print(done.stderr)
            return 1
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak = used.ru_maxrss / (1024.0**2 if sys.platform == "darwin" else 1024.0)
        found = json.loads(done.stdout)
        cpu = used.ru_utime + used.ru_stime
        print(f"wall {wall:.0f} s, CPU {cpu:.0f} s (chains {found['cpu_seconds']:.0f} s), peak memory {peak:,.0f} MB")
        print(f"{found['observations']:,} observations; {found['verdict']}")
        print(f"noise {found['noise']['median']:.5f}, residual sd {found['fit']['residual_sd']:.5f}")
        for said in found["warnings"]:
            print(f"warning: {said}")
    return 0 if peak < options.limit else 1


if __name__ == "__main__":
    raise SystemExit(main())
