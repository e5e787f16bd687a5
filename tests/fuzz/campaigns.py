"""The campaigns: name → the function that runs one case, and its share of the time.

A campaign's function takes a seed, returns nothing where all is well, and raises `Finding` where it is not; any other
exception is a finding too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from xrelay.environment import DEBUG

VERIFIED = 4
"""In one case of so many the module is verified after every pass; that takes about as long again."""


@dataclass(frozen=True)
class Campaign:
    """One kind of case: where its function is, its share of the time, and how many seconds a case may take."""

    target: str
    share: float
    limit: float

    def run(self, seed: int) -> None:
        """Run the case of a seed."""
        os.environ[DEBUG] = str(int(seed % VERIFIED == 0))
        self.function()(seed)

    def function(self) -> Callable[[int], None]:
        """The function that runs a case, by its seed."""
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
