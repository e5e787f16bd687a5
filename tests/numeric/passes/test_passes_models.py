"""A whole network after each pass of the default pipeline: exact passes keep every bit, others the values.

`make test-all` uses ResNet-50, `make test` a small MobileNetV2, which also has residual blocks and normalizations.
"""

from __future__ import annotations

import numpy as np
import onnx
from support.examples import FACTOR
from support.onnx_networks.mobile import MOBILE
from support.onnx_networks.network import Style
from support.pass_checks import Before, apply, check_close, check_exact, is_exact
from support.random_programs import dtype_of, extents
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.frontend.onnx.importer import import_onnx
from xrelay.frontend.onnx.light_models import light_model
from xrelay.interpreters.relay import run_relay
from xrelay.passes.catalogue.default_pipeline import DEFAULT_PIPELINE, chosen_passes


def images(module: ModuleOp) -> list[np.ndarray]:
    """Arguments for `@main` with values in the range of images."""
    main = next(op for op in module.ops if isinstance(op, FuncOp))
    rng = np.random.default_rng(0)
    return [rng.uniform(0, 1, extents(argument)).astype(dtype_of(argument)) for argument in main.args]


def network() -> onnx.ModelProto:
    if FACTOR > 1:
        return light_model("resnet50")
    small = next(each for each in MOBILE if each.id == "mobilenet_v2")
    return small.proto(Style.TORCHSCRIPT, small.sizes[0])


def test_every_pass_keeps_what_a_network_computes():
    module = apply(import_onnx(network()), "relay-infer-type")
    inputs = images(module)
    first = before = Before(module, inputs, run_relay(module, inputs))
    for step in [*chosen_passes(DEFAULT_PIPELINE, 3), "relay-fuse-ops", "relay-outline-fused"]:
        changed = apply(before.module, step)
        outputs = before.after(changed)
        if is_exact(step.partition("{")[0]):
            check_exact(before, outputs)
        else:
            assert check_close(before, outputs)
        before = Before(changed, inputs, outputs)
    assert check_close(first, before.outputs)
