"""The passes on quantised operators under Relay's names: `relay.qnn.transform.CanonicalizeOps()`."""

from __future__ import annotations

from xrelay.passes.relay_api.named_passes import create_pass
from xrelay.passes.relay_api.passes import Pass
from xrelay.passes.relay_api.sequential import Sequential

__all__ = ["CanonicalizeOps", "Legalize"]


def CanonicalizeOps() -> Pass:  # noqa: N802 (Relay's name)
    """The pass that puts operators on plain numbers in the place of those on quantised ones."""
    return create_pass("QnnCanonicalize")


def Legalize() -> Pass:  # noqa: N802 (Relay's name)
    """`QnnLegalize`, which makes tables of functions, and `CanonicalizeOps` for the rest."""
    return Sequential([create_pass("QnnLegalize"), CanonicalizeOps()])
