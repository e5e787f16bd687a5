"""The campaigns: name → the function that runs one case, and its share of the time.

A campaign's function takes a seed and raises `Finding` if a case fails; any other exception is also a finding.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from xrelay.environment import DEBUG

VERIFIED = 4
"""In one of so many cases the module is verified after every pass, which doubles the time."""


@dataclass(frozen=True)
class Campaign:
    """A kind of case: the location of its function, its share of the time, and the time limit of a case in seconds."""

    target: str
    share: float
    limit: float

    def run(self, seed: int) -> None:
        """Runs the case of a seed."""
        os.environ[DEBUG] = str(int(seed % VERIFIED == 0))
        self.function()(seed)

    def function(self) -> Callable[[int], None]:
        """Imports the function that runs a case by its seed."""
        module, _, name = self.target.partition(":")
        return getattr(import_module(module), name)


CAMPAIGNS: dict[str, Campaign] = {
    "graphs": Campaign("fuzz.graphs:run_case", share=4, limit=300),
    "nodes": Campaign("fuzz.nodes:run_case", share=3, limit=60),
    "onnx": Campaign("fuzz.damaged_models:run_case", share=1, limit=30),
    "bodies": Campaign("fuzz.damaged_bodies:run_case", share=1, limit=60),
    "programs": Campaign("fuzz.damaged_programs:run_case", share=1, limit=60),
    "operators": Campaign("fuzz.relay_ops:run_case", share=3, limit=60),
    "passes": Campaign("fuzz.op_passes:run_case", share=2, limit=60),
    "saved": Campaign("fuzz.saved_models:run_case", share=1, limit=30),
    "sequences": Campaign("fuzz.sequences:run_case", share=1, limit=60),
    "flow": Campaign("fuzz.flow:run_case", share=2, limit=60),
    "named": Campaign("fuzz.named:run_case", share=2, limit=120),
    "texts": Campaign("fuzz.damaged_texts:run_case", share=1, limit=60),
}
