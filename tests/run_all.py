"""`make test`: the checks, the Python tests and the text tests; all of them run, whatever fails.

Two halves of the Python tests and the type check run beside each other, and the text tests after the first half that
ends, so that no core waits. The output of all but the first half is printed when they have ended. The last line sums
them up as `N passed, N failed, N skipped`; the exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
# Tests start Python some hundred times: what it has compiled is kept, also where the environment says otherwise.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# The type check makes gigabytes of short-lived objects: with node's usual 16 MB for the young ones, a sixth of its work
# is to collect them.
ENVIRONMENT.setdefault("NODE_OPTIONS", "--max-semi-space-size=128")
# Each worker of pytest imports and collects all files of its command, which takes less for half of the files.
NUMBERS = ("tests/numeric", "tests/onnx_backend")
UNITS = ("tests/unit", "tests/meta")


@dataclass(frozen=True)
class Result:
    """What one step counted, and what it said if that has not been shown yet."""

    name: str
    passed: int
    failed: int
    skipped: int = 0
    output: str = ""


def run_check(name: str, *command: str) -> Result:
    """A check is one test: it passes or fails, and says nothing when it passes."""
    start = time.perf_counter()
    code, output = run(command, hidden=True)
    verdict = f"{name}: {'FAILED' if code else 'ok'} ({time.perf_counter() - start:.0f} s)\n"
    return Result(name, int(code == 0), int(code != 0), output=(output if code else "") + verdict)


def run_tests(name: str, report_flag: str, *command: str, hidden: bool = False) -> Result:
    """A test runner that writes a JUnit report, from which its tests are counted."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        code, output = run((*command, report_flag, str(report)), hidden=hidden)
        if not report.exists():
            return Result(name, 0, 1, output=output)
        suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    total, failures, errors, skipped = (
        sum(int(suite.get(key, "0")) for suite in suites) for key in ("tests", "failures", "errors", "skipped")
    )
    failed = failures + errors
    if code != 0 and failed == 0:
        failed = 1
    return Result(name, max(0, total - failures - errors - skipped), failed, skipped, output)


def run_pytest(name: str, arguments: tuple[str, ...], jobs: int, *, hidden: bool) -> Result:
    """Python tests in `jobs` processes, at least one."""
    # Neighbours run in one worker, and so share their fixtures, until one of the workers has nothing left. A single
    # process needs no worker, whose messages take as long as a test that compiles nothing.
    workers = ("-n", str(jobs), "--dist", "worksteal") if jobs > 1 else ()
    return run_tests(name, "--junitxml", "pytest", *arguments, *workers, hidden=hidden)


def run(command: tuple[str, ...], *, hidden: bool) -> tuple[int, str]:
    """The exit code of a tool of this environment and, if it is to be hidden, what it printed."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if hidden else {}
    path = str(BIN / command[0])
    done = subprocess.run([path, *command[1:]], cwd=ROOT, env=ENVIRONMENT, text=True, check=False, **streams)
    return done.returncode, done.stdout or ""


def show(result: Result) -> Result:
    """Print what a step said, in one piece."""
    sys.stdout.write(result.output)
    sys.stdout.flush()
    return result


def main() -> int:
    """Run every step and print the sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes for the test runners")
    parser.add_argument("--lit-param", action="append", default=[], help="a parameter of the text tests, as lit has it")
    args = parser.parse_args()
    jobs: int = args.jobs
    results = [
        show(run_check("ruff check", "ruff", "check", "--quiet", ".")),
        show(run_check("ruff format", "ruff", "format", "--check", "--quiet", ".")),
        show(run_check("import directions", "lint-imports", "--no-cache")),
    ]
    parameters = [f"--param={parameter}" for parameter in args.lit_param]
    lit = ("lit", "-sv", "-j", str(jobs), *parameters, "tests/lit")
    with ThreadPoolExecutor(max_workers=1) as beside, ThreadPoolExecutor(max_workers=2) as halves:
        types = beside.submit(run_check, "types", "basedpyright", "--pythonpath", sys.executable)
        units = halves.submit(run_pytest, "units", UNITS, jobs - jobs // 2, hidden=False)
        numbers = halves.submit(run_pytest, "numbers", NUMBERS, jobs // 2, hidden=True)
        texts = halves.submit(run_tests, "lit", "--xunit-xml-output", *lit, hidden=True)
        results += [units.result(), *(show(step.result()) for step in (types, numbers, texts))]
    for result in results:
        sys.stdout.write(f"{result.name}: {result.passed} passed, {result.failed} failed, {result.skipped} skipped\n")
    failed = sum(result.failed for result in results)
    passed, skipped = sum(result.passed for result in results), sum(result.skipped for result in results)
    sys.stdout.write(f"{passed} passed, {failed} failed, {skipped} skipped\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
