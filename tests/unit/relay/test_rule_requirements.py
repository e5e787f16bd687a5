"""Requirements that shape rules defer to run time for named extents; layouts rely only on proven ones."""

from __future__ import annotations

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import TensorType, TupleType, f32, i32
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.types import tensor_type, with_dims
from xrelay.errors import ConstraintError
from xrelay.index_algebra.dims import ANY, Dim, symbol

N, M, K = symbol("n"), symbol("m"), symbol("k")


def vector(*shape: Dim, element: Attribute = f32) -> TensorType[Attribute]:
    return tensor_type(shape, element)


def tuple_of(*types: TensorType[Attribute]) -> TupleType:
    return TupleType(types)


def op(name: str, *types: Attribute, **attributes: AttributeValue) -> RelayOp:
    return get_relay_op(name).call(*test.TestOp(result_types=types).results, **attributes)


CASES: dict[str, tuple[str, list[Attribute], dict[str, AttributeValue], list[str]]] = {
    "reshape": ("reshape", [vector(N, M)], {"newshape": (0, -1)}, ["C3 n >= 1"]),
    "concatenate": ("concatenate", [tuple_of(vector(N, 2), vector(M, 3))], {"axis": 1}, ["C3 n == m"]),
    "stack": ("stack", [tuple_of(vector(N), vector(M))], {}, ["C3 n == m"]),
    "split": ("split", [vector(N)], {"indices_or_sections": (2, 5)}, ["C3 n >= 5"]),
    "variance": ("variance", [vector(N, 4), vector(M, 1)], {"axis": (1,)}, ["C4 m == n"]),
    "argmax": ("argmax", [vector(N, 4)], {"axis": (0,)}, ["C2 n >= 1"]),
    "topk": ("topk", [vector(4, N)], {"k": 3}, ["C2 n >= 3"]),
    "reflect": ("nn.pad", [vector(N), vector()], {"pad_width": (2, 1), "pad_mode": "reflect"}, ["C4 n >= 3"]),
    "edge": ("nn.pad", [vector(N), vector()], {"pad_width": (2, 1), "pad_mode": "edge"}, ["C4 n >= 1"]),
    "window": (
        "nn.conv2d",
        [vector(1, N, N, 8), vector(4, N, 3, M)],
        {},
        ["C6 m >= 1", "C9 n >= 3", "C9 8 >= m"],
    ),
    "pool": ("nn.max_pool2d", [vector(1, 3, N, 8)], {"pool_size": (3, 3), "padding": 1}, ["C9 n + 2 >= 3"]),
    "transposed": (
        "nn.conv2d_transpose",
        [vector(1, 3, N, 8), vector(3, 4, 3, 3)],
        {"padding": 1},
        ["C9 n >= 1"],
    ),
    "broadcast_to": ("broadcast_to", [vector(N, M)], {"shape": (4, 1)}, ["C2 m == 1", "C2 broadcastable(n, 4)"]),
    "take": ("take", [vector(N), vector(M, element=i32)], {"axis": 0}, ["C5 n >= min(1, m)"]),
    "gather": ("gather", [vector(N, 4), vector(M, 9, element=i32)], {"axis": 1}, ["C3 n >= m"]),
    "rows": ("searchsorted", [vector(N, 4), vector(M, 2)], {}, ["C3 n == m"]),
    "sequences": ("reverse_sequence", [vector(N, 4), vector(M, element=i32)], {}, ["C3 m == n"]),
    "where": (
        "add",
        [vector(N, 3), vector(M, K)],
        {},
        ["C2 broadcastable(n, m)", "C2 broadcastable(3, k)"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_rule_demands_what_names_decide(case: str) -> None:
    name, types, attributes, wanted = CASES[case]
    found = [f"{each.constraint} {each.text}" for each in op(name, *types, **attributes).requirements]
    assert found == wanted


@pytest.mark.parametrize("case", CASES)
def test_of_any_nothing_is_demanded(case: str) -> None:
    name, types, attributes, _ = CASES[case]
    anonymous = [with_dims(type, lambda _: ANY) for type in types]
    found = op(name, *anonymous, **attributes).requirements
    assert not any(each.names for each in found)


def test_an_extent_that_certainly_differs_is_refused() -> None:
    with pytest.raises(ConstraintError, match=r"C3\] field 1 has extent n \+ 1 along axis 0, field 0 n"):
        op("concatenate", tuple_of(vector(N, 2), vector(N + 1, 3)), axis=1)


BLOCKS = Layout.parse("NCHW4c")


@pytest.mark.parametrize(("channels", "follows"), [(N, False), (4 * N, True), (8, True), (6, False), (ANY, False)])
def test_blocks_need_a_proof(channels: Dim, follows: bool) -> None:
    data, weight = vector(1, channels, 8, 8), vector(8, channels, 3, 3)
    answers = [
        op("nn.conv2d", data, weight).propagate_layouts([BLOCKS, None]),
        op("concatenate", tuple_of(data, data), axis=1).propagate_layouts([BLOCKS]),
        op("split", vector(1, 2 * channels, 8, 8), indices_or_sections=2, axis=1).propagate_layouts([BLOCKS]),
    ]
    assert [type(answer) for answer in answers] == [LayoutDecision if follows else LayoutRefusal] * 3
