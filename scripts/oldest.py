"""The oldest versions that pyproject.toml declares, as constraints for pip: `make test-oldest` installs them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BOUND = re.compile(r"^(?P<name>[A-Za-z0-9_.-]+)(\[[^\]]*\])?>=(?P<version>[0-9.]+)")


def oldest(pyproject: str) -> dict[str, str]:
    """Name and least version of every requirement that states one."""
    project = tomllib.loads(pyproject)["project"]
    stated = [*project["dependencies"], *(r for extra in project["optional-dependencies"].values() for r in extra)]
    found = [match for requirement in stated if (match := BOUND.match(requirement))]
    return {match["name"].lower(): match["version"] for match in found}


def main() -> None:
    """Print one line per requirement; tools that only judge the source (ruff, mypy) are left to be new."""
    for name, version in sorted(oldest((ROOT / "pyproject.toml").read_text(encoding="utf-8")).items()):
        width = version.count(".")
        if name not in ("ruff", "mypy"):
            print(f"{name}=={version}" + (".0.*", ".*", "")[min(width, 2)])


if __name__ == "__main__":
    main()
