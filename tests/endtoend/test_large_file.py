"""Files in chunks: `porbnet fit --chunked` from file to folder, and memory that does not grow with the file."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import porbnet
from porbnet.cli import main
from porbnet.sampling import absorb


def write(path, n):
    """A wave with noise, in row groups of 100,000 rows."""
    rng = np.random.default_rng(0)
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(0, n, 100_000):
            x = rng.uniform(size=min(n, 100_000))
            y = np.sin(6.0 * x) + 0.3 * rng.standard_normal(len(x))
            writer.write_table(pa.table([x, y], schema=schema))


def test_from_file_to_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(absorb, "MOST_WAITING", 5000)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "wave.parquet", 30_000)
    short = ["--draws", "60", "--warmup", "60", "--chains", "2", "--jobs", "1", "--lengthscale", "constant"]

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["porbnet", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code in (0, 3, None)  # 3: not converged
        return capsys.readouterr()

    said = run("fit", "wave.parquet", "--chunked", *short)
    assert "note: read in chunks; of more than a million rows none is kept" in said.err
    assert "30,000 observations" in said.out and "R²" in said.out and "log density" not in said.out
    found = json.loads(run("summary", "wave-fit", "--json").out)
    assert found["observations"] == 30_000 and found["fit"]["log_density"] is None
    assert found["fit"]["residual_sd"] == pytest.approx(0.3, rel=0.02)
    assert (tmp_path / "wave-fit" / "curves.png").exists()
    model = porbnet.load(tmp_path / "wave-fit" / "model.npz")
    at = np.linspace(0.05, 0.95, 20)[:, None]
    np.testing.assert_allclose(model.predict(at), np.sin(6.0 * at[:, 0]), atol=0.05)


GROWTH = textwrap.dedent(
    """
    import sys, warnings
    from pathlib import Path
    import numpy as np
    from porbnet import PoRBNetRegressor
    from porbnet.cli.stream import stream

    def peak():
        return next(float(s.split()[1]) for s in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in s)

    warnings.simplefilter("ignore")
    options = {"n_warmup": 20, "n_draws": 20, "n_chains": 1, "random_state": 0, "progress": False}
    x = np.linspace(0.0, 1.0, 300)[:, None]
    PoRBNetRegressor("constant", **options).fit(x, np.sin(6.0 * x[:, 0]))
    file = stream(sys.argv[1], None, None, None, False)
    next(iter(file.read()))
    before = peak()
    model = PoRBNetRegressor("constant", **options).fit(file.read)
    assert not model.posterior_.problem.has_all_rows
    print((peak() - before) / 1024.0)
    """
)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """30 and 100 MB of numbers; the rows themselves would take 70 MB more, a table of them several times that."""
    growth = []
    for n in (1_900_000, 6_300_000):
        path = tmp_path / f"{n}.parquet"
        write(path, n)
        command = [sys.executable, "-c", GROWTH, str(path)]
        growth.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    assert path.stat().st_size > 100e6
    assert growth[1] < growth[0] + 20.0 and growth[1] < 200.0
