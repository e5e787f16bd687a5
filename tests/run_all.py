"""`make test`: the checks, the Python tests and the text tests; all of them run, whatever fails.

The last line of the output sums them up as `N passed, N failed, N skipped`; the exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Result:
    """What one step counted."""

    name: str
    passed: int
    failed: int
    skipped: int = 0


def run_check(name: str, *command: str) -> Result:
    """A check is one test: it passes or fails, and says nothing when it passes."""
    start = time.perf_counter()
    done = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    good = done.returncode == 0
    if not good:
        sys.stdout.write(done.stdout + done.stderr)
    sys.stdout.write(f"{name}: {'ok' if good else 'FAILED'} ({time.perf_counter() - start:.0f} s)\n")
    sys.stdout.flush()
    return Result(name, int(good), int(not good))


def run_tests(name: str, report_flag: str, *command: str) -> Result:
    """A test runner that writes a JUnit report, from which its tests are counted."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        code = subprocess.run([str(BIN / command[0]), *command[1:], report_flag, str(report)], cwd=ROOT, check=False)
        if not report.exists():
            return Result(name, 0, 1)
        suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    total, failures, errors, skipped = (
        sum(int(suite.get(key, "0")) for suite in suites) for key in ("tests", "failures", "errors", "skipped")
    )
    failed = failures + errors
    if code.returncode != 0 and failed == 0:
        failed = 1
    return Result(name, max(0, total - failures - errors - skipped), failed, skipped)


def main() -> int:
    """Run every step and print the sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default="2", help="processes for the test runners")
    jobs: str = parser.parse_args().jobs
    results = [
        run_check("ruff check", "ruff", "check", "--quiet", "."),
        run_check("ruff format", "ruff", "format", "--check", "--quiet", "."),
        run_check("import directions", "lint-imports", "--no-cache"),
        run_check("types", "basedpyright"),
        run_tests("pytest", "--junitxml", "pytest", "-n", jobs),
        run_tests("lit", "--xunit-xml-output", "lit", "-sv", "-j", jobs, "tests/lit"),
    ]
    for result in results:
        sys.stdout.write(f"{result.name}: {result.passed} passed, {result.failed} failed, {result.skipped} skipped\n")
    failed = sum(result.failed for result in results)
    passed, skipped = sum(result.passed for result in results), sum(result.skipped for result in results)
    sys.stdout.write(f"{passed} passed, {failed} failed, {skipped} skipped\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
