"""Quantisation after training: `relay.quantize.quantize` under `relay.quantize.qconfig`, as Relay's users know them.

    with relay.quantize.qconfig(calibrate_mode="kl_divergence", skip_dense_layer=False):
        integers = relay.quantize.quantize(mod, params, dataset)

The operator that quantises a tensor is `relay.qnn.op.quantize`.
"""

from __future__ import annotations

from xrelay.relay.quantize.config import QAnnotateKind, QConfig, current_qconfig, kind2str, qconfig
from xrelay.relay.quantize.model import model_config
from xrelay.relay.quantize.pipeline import annotate, partition, prerequisite_optimize, quantize, realize

__all__ = [
    "QAnnotateKind",
    "QConfig",
    "annotate",
    "current_qconfig",
    "kind2str",
    "model_config",
    "partition",
    "prerequisite_optimize",
    "qconfig",
    "quantize",
    "realize",
]
