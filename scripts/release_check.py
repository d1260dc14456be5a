"""Build the release and try it as a user would: `python scripts/release_check.py`, or `make release-check`.

Wheel and sdist are built and checked by twine; then, for every Python from 3.11 on that is on this machine, the wheel
is installed into an empty environment, and `porbnet data motorcycle | porbnet fit -` and a few more commands are run
there. Told are the size of the wheel and how much `pip install porbnet` downloads. Needs the packages build and twine,
and a package index.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
MB = 1e6
_QUIET = ("--quiet", "--disable-pip-version-check")


class Tried(NamedTuple):
    """What came of one Python."""

    python: str
    seconds: float
    problem: str


def run(*command: str | Path, cwd: Path | None = None, allowed: tuple[int, ...] = (0,)) -> str:
    """Standard output of a command; an error with all that it said if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode not in allowed:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> dict[str, str]:
    """Paths of interpreters by version: those on the PATH that run, and those of pyenv."""
    found = {}
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        candidates = [
            shutil.which(f"python{version}"),
            *map(str, sorted(root.glob(f"{version}.*/bin/python{version}"))),
        ]
        for path in filter(None, candidates):
            asked = [path, "-c", "import sys, venv; print(sys.executable)"]
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                found[version] = done.stdout.strip()
                break
    return found


def build(out: Path) -> tuple[Path, Path]:
    """Wheel and sdist, made from the sources and checked."""
    run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    wheel, sdist = next(out.glob("*.whl")), next(out.glob("*.tar.gz"))
    print(run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist).strip())
    inside = zipfile.ZipFile(wheel).namelist()
    strange = [name for name in inside if not re.match(r"porbnet(/|-[\d.]+\w*\.dist-info/)", name)]
    missing = [name for name in ("porbnet/py.typed", "porbnet/datasets/data/motorcycle133.csv") if name not in inside]
    if strange or missing:
        raise RuntimeError(f"the wheel holds {strange} and lacks {missing}")
    return wheel, sdist


def downloaded(wheel: Path, python: str, folder: Path) -> float:
    """Bytes of all files that an installation needs, the wheel included."""
    run(python, "-m", "pip", "download", *_QUIET, "--dest", folder, wheel)
    return float(sum(path.stat().st_size for path in folder.iterdir()))


def attempt(wheel: Path, python: str, folder: Path) -> None:
    """Install into an empty environment, and use it from another folder."""
    run(python, "-m", "venv", folder / "env")
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(scripts / "python", "-m", "pip", "install", *_QUIET, wheel)
    work, command = folder / "work", scripts / "porbnet"
    work.mkdir()
    version = re.search(r"porbnet-([^-]+)-", wheel.name)
    if version is None or run(command, "--version", cwd=work).split() != ["porbnet", version[1]]:
        raise RuntimeError("porbnet --version does not say the version of the wheel")
    data = run(command, "data", "motorcycle", cwd=work)
    fitted = subprocess.run(
        [str(command), "fit", "-"], input=data, cwd=work, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if fitted.returncode != 0 or not (work / "porbnet-fit" / "model.npz").is_file():
        raise RuntimeError(f"porbnet fit - ended with {fitted.returncode}:\n{fitted.stdout}{fitted.stderr}")
    (work / "new.csv").write_text("time\n20\n40\n", encoding="utf-8")
    lines = run(command, "predict", "porbnet-fit", "new.csv", cwd=work).splitlines()
    if len(lines) != 3 or not -150.0 < float(lines[1].split(",")[1]) < -80.0:
        raise RuntimeError(f"porbnet predict says {lines}")
    run(command, "summary", "porbnet-fit", cwd=work)
    run(command, "docs", cwd=work, allowed=(1,))  # not part of the wheel: says how to get it


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where wheel and sdist go; emptied first")
    out = parser.parse_args().out
    shutil.rmtree(out, ignore_errors=True)
    wheel, sdist = build(out)
    for path in (wheel, sdist):
        print(f"{path.name}: {path.stat().st_size / MB:.2f} MB")
    found, tried = pythons(), []
    for version in VERSIONS:
        if version not in found:
            print(f"Python {version}: not on this machine")
            continue
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            try:
                attempt(wheel, found[version], Path(folder))
                problem = ""
            except RuntimeError as error:
                problem = str(error)
            tried.append(Tried(version, time.monotonic() - began, problem))
        print(f"Python {version}: {problem or 'installed, fitted, predicted'} ({tried[-1].seconds:.0f} s)", flush=True)
    if found:
        with tempfile.TemporaryDirectory() as folder:
            first = min(found, key=VERSIONS.index)
            size = downloaded(wheel, found[first], Path(folder))
            largest = sorted(Path(folder).iterdir(), key=lambda path: -path.stat().st_size)[:5]
            named = ", ".join(f"{path.name.split('-')[0]} {path.stat().st_size / MB:.1f}" for path in largest)
            print(f"pip install porbnet downloads {size / MB:.0f} MB (Python {first}; largest, in MB: {named})")
    return 1 if not tried or any(t.problem for t in tried) else 0


if __name__ == "__main__":
    sys.exit(main())
