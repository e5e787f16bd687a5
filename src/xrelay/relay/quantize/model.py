"""`xrelay.quantize`: from a model of floats, an ONNX file say, to a program on integers of 8 bits."""

from __future__ import annotations

from typing import Final

from xrelay.api.sources import Shapes, Source, load_source
from xrelay.passes.infra.pass_context import PassContext
from xrelay.relay.module import IRModule
from xrelay.relay.quantize.config import PERCENTILE, QConfig, qconfig
from xrelay.relay.quantize.pipeline import quantize as quantize_program

OPT_LEVEL: Final = 3
"""All passes in front of quantisation run."""


def quantize(
    source: Source, dataset: object = None, *, shapes: Shapes | None = None, config: QConfig | None = None
) -> IRModule:
    """The program of a model with its convolutions and matrix products on integers, to be compiled or saved.

    `source` and `shapes` are as for `xrelay.compile`. `dataset` is an iterable of batches, dictionaries from names of
    inputs to arrays such as those that the model will see; some hundred samples are enough. It is gone through once.
    `config` is what `relay.quantize.qconfig` gives; `model_config()`, without it, takes all convolutions and dense
    layers, bounds below which all but one in 100,000 elements lie, and a scale for each output channel of a weight.

    Raises what `relay.quantize.quantize` raises, and `ModelImportError` for an ONNX model that cannot be imported.
    """
    module = load_source(source, shapes=shapes)
    with PassContext(opt_level=OPT_LEVEL), config if config is not None else model_config():
        return quantize_program(module, dataset=dataset)


def model_config(**options: object) -> QConfig:
    """`qconfig`, with defaults that are as accurate as 8 bits are, instead of Relay's."""
    accurate = {
        "calibrate_mode": PERCENTILE,
        "weight_scale": "max",
        "per_channel": True,
        "skip_dense_layer": False,
        "skip_conv_layers": None,
    }
    return qconfig(**{**accurate, **options})
