"""The passes on quantised operators under Relay's names: `relay.qnn.transform.CanonicalizeOps()`."""

from __future__ import annotations

from xrelay.relay.pass_api.named_passes import Sequential, create_pass
from xrelay.relay.pass_api.passes import Pass

__all__ = ["CanonicalizeOps", "Legalize"]


def CanonicalizeOps() -> Pass:  # noqa: N802 (Relay's name)
    """Lowers quantised operators to plain ones: runs the hooks of `FTVMQnnCanonicalize`, then `QnnCanonicalize`."""
    hooks = create_pass("Legalize{legalize-map-attr-name=FTVMQnnCanonicalize}")
    return Sequential([hooks, create_pass("QnnCanonicalize")])


def Legalize() -> Pass:  # noqa: N802 (Relay's name)
    """Runs the hooks of `FTVMQnnLegalize`, then `QnnLegalize`, which makes tables of functions."""
    return Sequential([create_pass("Legalize{legalize-map-attr-name=FTVMQnnLegalize}"), create_pass("QnnLegalize")])
