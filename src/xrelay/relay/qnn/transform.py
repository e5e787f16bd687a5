"""The passes on quantised operators under Relay's names: `relay.qnn.transform.CanonicalizeOps()`."""

from __future__ import annotations

from xrelay.passes.relay_api.named_passes import create_pass
from xrelay.passes.relay_api.passes import Pass
from xrelay.passes.relay_api.sequential import Sequential

__all__ = ["CanonicalizeOps", "Legalize"]


def CanonicalizeOps() -> Pass:  # noqa: N802 (Relay's name)
    """What hooks of `FTVMQnnCanonicalize` say, and `QnnCanonicalize`: operators on plain numbers for quantised ones."""
    hooks = create_pass("Legalize{legalize-map-attr-name=FTVMQnnCanonicalize}")
    return Sequential([hooks, create_pass("QnnCanonicalize")])


def Legalize() -> Pass:  # noqa: N802 (Relay's name)
    """What hooks of `FTVMQnnLegalize` say, and `QnnLegalize`, which makes tables of functions."""
    return Sequential([create_pass("Legalize{legalize-map-attr-name=FTVMQnnLegalize}"), create_pass("QnnLegalize")])
