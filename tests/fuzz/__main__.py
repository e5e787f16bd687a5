"""The command line of `make fuzz`: divides the time among the campaigns, stores findings, prints a table.

Ctrl-C ends it after the running cases and prints the table of finished cases.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from base64 import b64decode
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.campaigns import CAMPAIGNS
from fuzz.finding import signature
from fuzz.worker_process import Outcome, WorkerProcess

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = ROOT / "build" / "fuzz"


@dataclass
class Tally:
    """The progress of one campaign; `next_seed` is the seed of its next case."""

    next_seed: int
    cases: int = 0
    seconds: float = 0.0
    findings: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Signature → the seeds with that finding."""


class Session:
    """The campaigns that run until the time `end`; several threads take cases from it, each with its own worker."""

    def __init__(self, names: list[str], seed: int, end: float):
        self.tallies = {name: Tally(seed) for name in names}
        self._end = end
        self._lock = threading.Lock()

    def work(self) -> None:
        """Runs cases until the time is over."""
        FINDINGS.mkdir(parents=True, exist_ok=True)
        worker = WorkerProcess(FINDINGS)
        try:
            while time.monotonic() < self._end:
                name, seed = self._take()
                start = time.monotonic()
                outcome = worker.run(name, seed, CAMPAIGNS[name].limit)
                self._note(name, seed, outcome, time.monotonic() - start)
        finally:
            worker.close()

    def stop(self) -> None:
        """Stops after the running cases."""
        self._end = 0.0

    def _take(self) -> tuple[str, int]:
        """Returns the next case, of the campaign that has used the least of its share."""
        with self._lock:
            name = min(self.tallies, key=lambda name: self.tallies[name].seconds / CAMPAIGNS[name].share)
            tally = self.tallies[name]
            # This keeps other threads from taking the same campaign again before this case has ended.
            tally.seconds += 0.01
            tally.next_seed += 1
            return name, tally.next_seed - 1

    def _note(self, name: str, seed: int, outcome: Outcome, seconds: float) -> None:
        with self._lock:
            tally = self.tallies[name]
            tally.cases += 1
            tally.seconds += seconds
            if not outcome.finding:
                return
            seeds = tally.findings.setdefault(signature(outcome.finding), [])
            seeds.append(seed)
            if len(seeds) == 1:
                show(name, seed, outcome)
            if len(seeds) <= 5:
                keep(name, seed, outcome)


def show(name: str, seed: int, outcome: Outcome) -> None:
    """Prints a finding and its case."""
    print(f"{name}:{seed}  {outcome.finding.splitlines()[0][:300]}", flush=True)


def keep(name: str, seed: int, outcome: Outcome) -> None:
    """Writes a finding and its files below build/fuzz."""
    folder = FINDINGS / f"{name}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "finding.txt").write_text(f"{outcome.finding}\n\n{outcome.trace}\n")
    for file, data in outcome.files.items():
        (folder / file).write_bytes(b64decode(data))


def run_once(case: str) -> int:
    """Runs one case in this process, for debuggers."""
    name, _, seed = case.partition(":")
    CAMPAIGNS[name].run(int(seed))
    print(f"{case}: nothing found")
    return 0


def report(session: Session) -> int:
    """Prints the table; returns 1 if there are findings."""
    found = 0
    for name, tally in session.tallies.items():
        found += len(tally.findings)
        print(f"{name:8} {tally.cases:8} cases {tally.seconds:8.0f} s {len(tally.findings):4} findings")
        for text, seeds in tally.findings.items():
            print(f"    {len(seeds):5} × {text[:200]}  (make fuzz CASE={name}:{seeds[0]})")
    print(f"{sum(tally.cases for tally in session.tallies.values())} cases, {found} findings")
    return int(found > 0)


def main() -> int:
    """Parses the command line and runs."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0, help="the first seed of every campaign")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default=",".join(CAMPAIGNS), help="campaigns, separated by commas")
    parser.add_argument("--case", help="run one case, CAMPAIGN:SEED, in this process")
    options = parser.parse_args()
    if options.case:
        return run_once(options.case)
    names = options.only.split(",")
    if unknown := [name for name in names if name not in CAMPAIGNS]:
        parser.error(f"no campaign is called {unknown[0]!r}; there are {', '.join(CAMPAIGNS)}")
    session = Session(names, options.seed, time.monotonic() + options.minutes * 60)
    threads = [threading.Thread(target=session.work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        session.stop()
        for thread in threads:
            thread.join()
    return report(session)


if __name__ == "__main__":
    sys.exit(main())
