"""The partition against a second implementation of Relay's algorithm (`support/fusion_oracle.py`)."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.fusion_oracle import OracleGraph, classes, oracle_partition
from support.fusion_oracle_ir import oracle_graph
from support.levels import outputs
from support.random_relay import random_module
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import RESHAPE_ONLY
from xrelay.passes.fusion.defuse_ops import defuse
from xrelay.passes.fusion.fuse_ops import FunctionFusion, analyse_module, fuse_module
from xrelay.passes.fusion.op_patterns import forward_graph
from xrelay.passes.fusion.partition import FusionOptions
from xrelay.passes.graph.op_kinds import OpKind, kind_of
from xrelay.passes.infra.source import full_context, parse_module

SEEDS = st.integers(0, 2**32)
OPTIONS = st.builds(
    FusionOptions,
    opt_level=st.sampled_from([2, 2, 2, 2, 0, 1, 3]),
    max_depth=st.sampled_from([256, 256, 1, 2, 3, 4, 5, 6, 7, 8]),
    max_function_args=st.integers(0, 6),
)


def relay_partition(graph: OracleGraph, options: FusionOptions) -> list[int]:
    return oracle_partition(
        graph, level=options.opt_level, max_depth=options.max_depth, max_args=options.max_function_args
    )


def labels(fusion: FunctionFusion) -> list[Operation | None]:
    """The ops for which Relay has nodes: bindings are two nodes there, and closures none."""
    ops = fusion.nodes.ops
    return [None if isinstance(op, LetOp | FnOp) else op for op in ops]


@given(SEEDS, st.integers(1, 40), st.booleans(), OPTIONS)
@settings(max_examples=examples(80), deadline=None)
def test_any_module_has_relays_partition(seed: int, length: int, runnable: bool, options: FusionOptions):
    module = random_module(seed, length, runnable=runnable)
    for function, fusion in zip(functions(module), analyse_module(module, options), strict=True):
        graph = oracle_graph(function)
        expected = classes(relay_partition(graph, options), [node.label for node in graph])
        assert classes(fusion.partition.roots, labels(fusion)) == expected


def functions(module: ModuleOp) -> list[FuncOp]:
    return [op for op in module.body.block.ops if isinstance(op, FuncOp)]


# --- properties of the groups


def fused(seed: int, **options: bool) -> ModuleOp:
    module = random_module(seed)
    fuse_module(module, FusionOptions(), **options)
    module.verify()
    return module


def groups(module: ModuleOp) -> list[FusedOp]:
    return [op for op in module.walk() if isinstance(op, FusedOp)]


@given(SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_all_work_is_in_groups_and_fusing_again_changes_nothing(seed: int):
    module = fused(seed)
    for op in module.walk():
        assert kind_of(op) is not OpKind.BARRIER
        assert kind_of(op) is not OpKind.OPERATOR or isinstance(op.parent_op(), FusedOp)
    before = str(module)
    fuse_module(module, FusionOptions())
    assert str(module) == before


@given(SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_a_group_says_what_it_is(seed: int):
    module = fused(seed)
    found = groups(module)
    assert len({group.group_name.data for group in found}) == len(found)
    for group in found:
        ops = [op for op in group.body.block.ops if isinstance(op, RelayOp)]
        heavy = [op for op in ops if op.fusion_pattern is OpPatternKind.OUT_ELEM_WISE_FUSABLE]
        assert len(heavy) <= 1
        assert (group.anchor.data if group.anchor else None) == (heavy[0].relay_name() if heavy else None)
        assert (RESHAPE_ONLY in group.attributes) == all(op.RESHAPE_ONLY for op in ops)
        assert len(set(group.arguments)) == len(group.arguments)


@given(SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_linked_constants_are_inside(seed: int):
    for group in groups(fused(seed, link_params=True)):
        assert not any(kind_of(owner) is OpKind.CONSTANT for owner in makers(group))


def makers(group: FusedOp) -> list[Operation]:
    return [value.owner for value in group.arguments if isinstance(value.owner, Operation)]


def operators(module: ModuleOp) -> Counter[str]:
    """Counts the operators that the functions' results need."""
    found: Counter[str] = Counter()
    for function in functions(module):
        needed = forward_graph(function.body.block).numbers
        found.update(op.name for op in needed if isinstance(op, RelayOp) and kind_of(op) is not OpKind.BARRIER)
    return found


@given(SEEDS)
@settings(max_examples=examples(15), deadline=None)
def test_groups_dissolve_into_what_they_were_made_of(seed: int):
    module = random_module(seed)
    expected = operators(module)
    fuse_module(module, FusionOptions())
    for group in groups(module):
        defuse(group)
    module.verify()
    assert operators(module) == expected


@given(SEEDS, st.booleans())
@settings(max_examples=examples(12), deadline=None)
def test_fused_modules_compute_the_same_bits(seed: int, link_params: bool):
    rng = np.random.default_rng(seed)
    types = [argument.type for argument in functions(random_module(seed))[0].body.block.args]
    inputs = [rng.standard_normal(type.get_shape()) for type in types if isinstance(type, TensorType)]
    arrays = [array.astype(np.float32) for array in inputs[:-1]] + [np.asarray(inputs[-1] > 0)]
    with np.errstate(all="ignore"):
        expected = outputs(random_module(seed), arrays)
        found = outputs(fused(seed, link_params=link_params), arrays)
    assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]


NAMED = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.annotation.stop_fusion(%a) : (tensor<4xf32>) -> tensor<4xf32>
  {more}
  %b = relay.exp(%t) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b, {result} : tensor<4xf32>, tensor<4xf32>
}}
"""


def test_names_do_not_depend_on_unrelated_ops():
    more = "%u = relay.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>"
    names: list[list[str]] = []
    for text in (NAMED.format(more="", result="%x"), NAMED.format(more=more, result="%u")):
        module = parse_module(full_context(), text, "named.mlir")
        fuse_module(module, FusionOptions())
        names.append([group.group_name.data for group in groups(module)])
    assert names == [["fused_exp", "fused_exp_1"], ["fused_exp", "fused_tanh", "fused_exp_1"]]
