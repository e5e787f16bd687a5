"""The campaigns: name → the function that runs one case, and its share of the time.

A campaign's function takes a seed, returns nothing where all is well, and raises `Finding` where it is not; any other
exception is a finding too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Campaign:
    """One kind of case: where its function is, its share of the time, and how many seconds a case may take."""

    target: str
    share: float
    limit: float

    def function(self) -> Callable[[int], None]:
        """The function that runs the case of a seed."""
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
