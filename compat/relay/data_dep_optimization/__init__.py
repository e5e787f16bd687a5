"""Optimisations of a function together with its parameters: sparse weights, and weights transposed in advance."""

from __future__ import annotations

from xrelay.relay.data_dep_optimization import bsr_conv2d, bsr_dense, simplify_fc_transpose

__all__ = ["bsr_conv2d", "bsr_dense", "simplify_fc_transpose"]
