"""Post-training quantisation: `relay.quantize.quantize` under `relay.quantize.qconfig`, with Relay's interface.

    with relay.quantize.qconfig(calibrate_mode="kl_divergence", skip_dense_layer=False):
        integers = relay.quantize.quantize(mod, params, dataset)

The operator that quantises a tensor is `relay.qnn.op.quantize`.
"""

from __future__ import annotations

from typing import NoReturn

from xrelay.relay.operator_functions.calls import NoOperatorError
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

_HOOKS = ("register_annotate_function", "register_partition_function")


def __getattr__(name: str) -> NoReturn:
    """Raises an error that names the alternative to Relay's hooks."""
    if name in _HOOKS:
        raise NoOperatorError(
            f"relay.quantize.{name} does not exist: operators specify their form on integers",
            help="register the form with relay.op.register_fake_quantization_to_integer",
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
