"""Invariants of every relay pass, checked on one program: it stays valid, prints and parses, and computes the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_pipeline

from support.random_programs import HALVES, Array, random_inputs
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.interpreters.relay import run_relay
from xrelay.lowering.registry import ALL_PASSES, load_pass
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.xrelay_pass import EXACT, REASSOCIATING_RTOL, Numerics, numerics_of

IDEMPOTENT = {
    "relay-simplify-inference",
    "relay-canonicalize-ops",
    "relay-dynamic-to-static",
    "relay-fix-extents",
    "relay-inline",
    "relay-fold-constant",
    "relay-eliminate-common-subexpr",
    "relay-dead-code-elimination",
    "relay-remove-unused-functions",
    "relay-to-basic-block-normal-form",
    "relay-to-a-normal-form",
    "relay-to-graph-normal-form",
    "relay-fuse-ops",
    "relay-defuse-ops",
    "relay-infer-type",
}
"""Idempotent passes."""


def declared(name: str) -> Numerics:
    """The declaration of a pass of the project."""
    return numerics_of(load_pass(name))


def is_exact(name: str) -> bool:
    """Whether a pass of the project is declared to be exact."""
    return declared(name) == EXACT


def relay_passes(*, exact: bool) -> list[str]:
    """The names of the relay passes that are declared to be exact, or not."""
    return [name for name in ALL_PASSES if name.startswith("relay-") and is_exact(name) is exact]


def apply(module: ModuleOp, pipeline: str) -> ModuleOp:
    """Returns a copy of the module after the passes."""
    changed = module.clone()
    for each in pipeline_of(pipeline):
        each.apply(Context(), changed)
    return changed


@cache
def pipeline_of(pipeline: str) -> list[ModulePass]:
    """Parses a pipeline with the options of its passes."""
    return [load_pass(spec.name).from_spec(spec) for spec in parse_pipeline(pipeline)]


def check_text(module: ModuleOp) -> None:
    """Checks that the printed program parses to the same text."""
    text = str(module)
    assert str(parse_module(full_context(), text, "printed.mlir")) == text


@dataclass(frozen=True)
class Before:
    """A program with its inputs and outputs."""

    module: ModuleOp
    inputs: Sequence[Array]
    outputs: Sequence[Array]

    @staticmethod
    def of(module: ModuleOp, *, wild: bool = False) -> Before:
        inputs = random_inputs(module, wild=wild)
        return Before(module, inputs, run_relay(module, inputs))

    def after(self, changed: ModuleOp) -> Sequence[Array]:
        """Returns the outputs of the module after passes; it must be valid."""
        if changed.is_structurally_equivalent(self.module):
            return self.outputs
        changed.verify()
        return run_relay(changed, self.inputs)


def check_exact(before: Before, found: Sequence[Array]) -> None:
    """Checks that results are bitwise equal, except for NaN payloads."""
    assert len(found) == len(before.outputs)
    for old, new in zip(before.outputs, found, strict=True):
        assert (old.dtype, old.shape) == (new.dtype, new.shape)
        if old.tobytes() == new.tobytes():
            continue
        np.testing.assert_array_equal(old.astype(np.float64), new.astype(np.float64))
        np.testing.assert_array_equal(np.signbit(old) & (old == 0), np.signbit(new) & (new == 0))


def check_close(before: Before, found: Sequence[Array]) -> bool:
    """Checks that floats differ by at most 1e-5 of the value and 1e-5 of the result's maximum; other numbers are equal.

    The tolerance of half precision is 16 units in the last place. A result outside of the tolerance is accepted if it
    is ill-conditioned: if a change in the last place of inputs and constants changes it by nearly as much. Returns
    whether all results are in the tolerance.
    """
    assert len(found) == len(before.outputs)
    misses = [_miss(old, new) for old, new in zip(before.outputs, found, strict=True)]
    if max(misses, default=0.0) <= 1.0:
        return True
    rng = np.random.default_rng(7)
    shaken = run_relay(_shaken(before.module), [shake(array, rng) for array in before.inputs])
    sensitive = [_miss(old, new) for old, new in zip(before.outputs, shaken, strict=True)]
    worst = [(miss, move) for miss, move in zip(misses, sensitive, strict=True) if miss > 1.0 and move < 0.25]
    assert not worst, f"differs by {worst[0][0]:.3g} times the tolerance; shaking moves {worst[0][1]:.3g} times"
    return False


def _miss(old: Array, new: Array) -> float:
    """The difference of two results as a multiple of the tolerance; infinite if NaNs or infinities differ."""
    assert (old.dtype, old.shape) == (new.dtype, new.shape)
    if old.dtype.kind in "biu":
        return 0.0 if np.array_equal(old, new) else np.inf
    epsilon = float(ml_dtypes.finfo(old.dtype).eps)
    rtol = 16 * epsilon if old.dtype in HALVES else REASSOCIATING_RTOL
    left, right = old.astype(np.float64), new.astype(np.float64)
    known = np.isfinite(left)
    if not np.array_equal(left[~known], right[~known], equal_nan=True) or not np.isfinite(right[known]).all():
        return np.inf
    left, right = left[known], right[known]
    greatest = float(np.abs(left).max(initial=0.0))
    # Cancelling values of order 1 leave their rounding error, however small the result.
    allowed = np.maximum(rtol * (np.abs(left) + greatest), 64 * epsilon)
    return float((np.abs(left - right) / allowed).max(initial=0.0))


def _shaken(module: ModuleOp) -> ModuleOp:
    """Returns the module with its constants changed in the last place."""
    changed = module.clone()
    rng = np.random.default_rng(7)
    for op in [op for op in changed.walk() if isinstance(op, ConstantOp)]:
        op.properties["value"] = ConstantOp.of(shake(op.array, rng), "shaken").value
    return changed


def shake(array: Array, rng: np.random.Generator) -> Array:
    """Returns floats changed by one unit in the last place, up or down; other arrays unchanged."""
    if array.dtype.kind in "biu":
        return array
    signs = rng.choice([-1.0, 1.0], array.shape)
    epsilon = float(ml_dtypes.finfo(array.dtype).eps)
    return (array.astype(np.float64) * (1 + epsilon * signs)).astype(array.dtype)
