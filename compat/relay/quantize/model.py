"""`xrelay.quantize`: quantises a float model, such as an ONNX file, to a program on 8-bit integers."""

from __future__ import annotations

from typing import Final

from xrelay.api.sources import Source, load_source
from xrelay.arguments import GivenShapes, checked_shapes
from xrelay.passes.infra.pass_context import PassContext
from xrelay.relay.module import IRModule
from xrelay.relay.quantize.config import PERCENTILE, QConfig, qconfig
from xrelay.relay.quantize.pipeline import quantize as quantize_program

OPT_LEVEL: Final = 3
"""The opt level at which all passes before quantisation run."""


def quantize(
    source: Source, dataset: object = None, *, shapes: GivenShapes | None = None, config: QConfig | None = None
) -> IRModule:
    """Returns the program of a model with convolutions and matrix products on integers, to compile or save.

    `source` and `shapes` are as for `xrelay.compile`. `dataset` is an iterable of batches, dictionaries from input
    names to representative arrays; some hundred samples are enough. It is iterated once. `config` is a result of
    `relay.quantize.qconfig`. The default, `model_config()`, quantises all convolutions and dense layers, with bounds
    that contain all but one in 100,000 elements, and a scale per output channel of a weight.

    Raises the errors of `relay.quantize.quantize`, and `ModelImportError` for an ONNX model that cannot be imported.
    """
    module = load_source(source, shapes=checked_shapes(shapes))
    with PassContext(opt_level=OPT_LEVEL), config if config is not None else model_config():
        return quantize_program(module, dataset=dataset)


def model_config(**options: object) -> QConfig:
    """Returns a `qconfig` with the most accurate defaults for 8 bits, instead of Relay's."""
    accurate = {
        "calibrate_mode": PERCENTILE,
        "weight_scale": "max",
        "per_channel": True,
        "skip_dense_layer": False,
        "skip_conv_layers": None,
    }
    return qconfig(**{**accurate, **options})
