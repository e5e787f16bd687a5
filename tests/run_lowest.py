"""`make test-lowest`: the Python tests with the lowest versions that pyproject.toml allows.

Each lower bound there is a release that exists; an environment of its own (build/lowest) gets exactly these, and runs
the unit tests. Their stubs are not those of today, so types are checked with the newest versions alone.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "lowest"
_BOUND = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\w.]+)")


def lowest_versions(text: str) -> list[str]:
    """`name==version` for the lower bound of each requirement in the text of a pyproject.toml."""
    project = tomllib.loads(text)["project"]
    requirements: list[str] = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    bounds = [_BOUND.match(requirement) for requirement in requirements]
    if None in bounds:
        raise SystemExit(f"without a lower bound: {requirements[bounds.index(None)]}")
    return [f"{bound['name']}=={bound['version']}" for bound in bounds if bound is not None]


def main() -> int:
    """Install and run; gives pytest's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes for the test runner")
    parser.add_argument("tests", nargs="*", default=["tests/unit"], help="what to run (tests/unit)")
    args = parser.parse_args()
    python = FOLDER / "bin" / "python"
    if not python.exists():
        venv.create(FOLDER, with_pip=True)
    constraints = FOLDER / "constraints.txt"
    constraints.write_text("\n".join(lowest_versions((ROOT / "pyproject.toml").read_text())) + "\n")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    installed = subprocess.run([*pip, "--constraint", str(constraints), "--editable", ".[test]"], cwd=ROOT, check=False)
    if installed.returncode != 0:
        sys.stderr.write("the lowest versions are for Python 3.11: make test-lowest PYTHON=python3.11\n")
        return installed.returncode
    # A cache of its own: models that other versions compiled are not of interest here.
    environment = {**os.environ, "XRELAY_CACHE_DIR": str(FOLDER / "cache")}
    command = [str(python), "-m", "pytest", "-n", str(args.jobs), "--dist", "worksteal", *args.tests]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
