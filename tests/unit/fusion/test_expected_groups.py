"""Kernels of whole graphs, derived by hand from the graphs before fusion ran on them."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from support.networks import batch_norm, weight
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay
from xrelay.frontend.onnx import import_onnx
from xrelay.frontend.onnx.light_models import light_model
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.catalogue.default_pipeline import DEFAULT_PIPELINE, chosen_passes
from xrelay.passes.fusion.explain import ExplainedBlock, explain_fusion
from xrelay.passes.fusion.explain_text import story_lines
from xrelay.passes.fusion.partition import FusionOptions
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context

CONV, BN, RELU = "nn.conv2d", ("multiply", "add"), "nn.relu"
WINOGRAD = "nn.contrib_conv2d_winograd_without_weight_transform"


@cache
def imported(name: str) -> ModuleOp:
    return import_onnx(light_model(name))


def explained(module: ModuleOp, opt_level: int = 2) -> ExplainedBlock:
    """`@main` after the graph passes, fused."""
    passes = ",".join(["relay-infer-type", *chosen_passes(DEFAULT_PIPELINE, opt_level)])
    run_pipeline(module, parse_passes(passes, pass_thunks()), context=full_context())
    (block,) = explain_fusion(module, FusionOptions())
    return block


def kernels(block: ExplainedBlock) -> Counter[tuple[str, ...]]:
    """Counts the kernels by their operators in order."""
    return Counter(
        tuple(block.ops[node].operator for node in group.nodes if node in block.ops) for group in block.groups
    )


def of_builder(result: relay.Expr) -> ExplainedBlock:
    return explained(relay.Module.from_expr(result))


# --- the models


def test_resnet50() -> None:
    # 53 convolutions: in 16 blocks two with a relu and one with the sum and a relu, 4 shortcuts, the first with a relu.
    assert kernels(explained(imported("resnet50").clone())) == {
        (CONV, *BN, RELU): 33,
        (CONV, *BN, "add", RELU): 16,
        (CONV, *BN): 4,
        ("nn.max_pool2d",): 1,
        ("nn.avg_pool2d",): 1,
        ("reshape",): 1,
        ("nn.dense", "add"): 1,
        ("nn.softmax",): 1,
    }


def test_resnet50_in_blocks() -> None:
    # Scales are folded into the weights; the image is packed, and unpacked for the dense layer. Of 16 convolutions with
    # filters of 3 x 3, 3 have strides, and 2 work on images of 7 x 7.
    found = kernels(explained(imported("resnet50").clone(), opt_level=3))
    convolutions = {names: count for names, count in found.items() if CONV in names or WINOGRAD in names}
    assert convolutions == {
        (CONV, "add", RELU): 22,
        (WINOGRAD, "add", RELU): 11,
        (CONV, "add", "add", RELU): 16,
        (CONV, "add"): 4,
    }


def test_inception_v1() -> None:
    # Nine modules of six convolutions and a pool, each joined by one kernel; three convolutions precede them.
    assert kernels(explained(import_onnx(light_model("inception_v1")))) == {
        (CONV, "nn.bias_add", RELU): 9 * 6 + 3,
        ("tuple", "concatenate"): 9,
        ("nn.max_pool2d",): 9 + 4,
        ("nn.lrn",): 2,
        ("nn.avg_pool2d",): 1,
        ("reshape",): 1,
        ("nn.dense", "add"): 1,
        ("nn.softmax",): 1,
    }


def test_shufflenet() -> None:
    # Sixteen units: a convolution with relu, the shuffle, a depthwise convolution, and a convolution that ends in a sum
    # (13) or in a concatenation with relu (3), next to an average pool.
    assert kernels(explained(import_onnx(light_model("shufflenet")))) == {
        (CONV, "nn.bias_add", *BN, RELU): 1,
        (CONV, *BN, RELU): 16,
        ("reshape", "transpose", "reshape"): 16,
        (CONV, *BN): 16 + 3,
        (CONV, *BN, "add", RELU): 13,
        ("tuple", "concatenate", RELU): 3,
        ("nn.avg_pool2d",): 3 + 1,
        ("nn.max_pool2d",): 1,
        ("reshape",): 1,
        ("nn.dense", "add"): 1,
        ("nn.softmax",): 1,
    }


# --- the second seed


def conv(data: relay.Expr, size: int = 3) -> relay.Expr:
    return relay.nn.conv2d(data, weight(8, 8, size, size), padding=(size // 2, size // 2))


@pytest.mark.parametrize("shortcut", ["from the convolution", "from elsewhere"])
def test_residual_variant(shortcut: str) -> None:
    x = relay.var("x", shape=(1, 8, 6, 6))
    first = conv(x)
    other = first if shortcut == "from the convolution" else x
    block = of_builder(relay.add(relay.nn.relu(batch_norm(first, 8)), other))
    assert kernels(block) == {(CONV, *BN, RELU, "add"): 1}


def test_resnet_fragment() -> None:
    x = relay.var("x", shape=(1, 8, 6, 6))
    fork = relay.nn.relu(batch_norm(conv(x), 8))
    left = batch_norm(conv(fork, 1), 8)
    right = relay.nn.relu(batch_norm(conv(fork, 1), 8))
    right = batch_norm(conv(right), 8)
    block = of_builder(relay.nn.relu(relay.add(left, right)))
    # The branch of the first operand fuses with the sum; the other branch is a separate kernel.
    assert kernels(block) == {(CONV, *BN, RELU): 2, (CONV, *BN, "add", RELU): 1, (CONV, *BN): 1}
    forking = next(node for node in block.ops if len(block.graph.outputs[node]) == 2)
    joining = block.partition.tree.parents[forking]
    assert joining is not None
    assert block.ops[joining].operator == "add"
    assert len(block.graph.operands[joining]) == 2
    assert any(
        "worst pattern on the paths: kOutEWiseFusable" in line for line in story_lines(block, block.ops[forking])
    )


def test_a_module_of_inception() -> None:
    x = relay.var("x", shape=(1, 8, 6, 6))
    pooled = relay.nn.max_pool2d(x, pool_size=(3, 3), padding=(1, 1))
    branches = [conv(x, 1), conv(relay.nn.relu(conv(x, 1))), conv(relay.nn.relu(conv(x, 1)), 5), conv(pooled, 1)]
    block = of_builder(relay.nn.relu(relay.concatenate([relay.nn.relu(branch) for branch in branches], axis=1)))
    assert kernels(block) == {(CONV, RELU): 6, ("nn.max_pool2d",): 1, ("tuple", "concatenate", RELU): 1}


# --- steering


def test_names_are_stable_and_locations_kept() -> None:
    model = light_model("squeezenet")
    once, again = (explained(import_onnx(model)) for _ in range(2))
    assert [group.name for group in once.groups] == [group.name for group in again.groups]
    assert len({group.name for group in once.groups}) == len(once.groups)
    nodes = {node.name or node.output[0] for node in model.graph.node}
    for group in once.groups:
        assert group.locations
        assert nodes.issuperset(group.locations)


def test_stop_fusion_keeps_a_conv_alone() -> None:
    x = relay.var("x", shape=(1, 8, 6, 6))
    block = of_builder(relay.nn.relu(relay.annotation.stop_fusion(conv(x))))
    assert kernels(block) == {(CONV,): 1, (RELU,): 1}
