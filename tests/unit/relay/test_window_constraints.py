"""The constraints of convolutions and pools have the same ids and messages for one, two and three spatial axes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from xdsl.dialects.builtin import StringAttr, f32, f64
from xdsl.ir import Block, SSAValue

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.types import IncompleteType, tensor_type
from xrelay.errors import ConstraintError

NUMBERS = {1: "one positive number", 2: "one or two positive numbers", 3: "one or three positive numbers"}
SIDES = {1: "1 or 2", 2: "1, 2 or 4", 3: "1, 3 or 6"}
MORE = {1: "one non-negative number", 2: "1 or 2 non-negative numbers", 3: "1 or 3 non-negative numbers"}
AXES = {1: "W", 2: "HW", 3: "DHW"}
RANKS = pytest.mark.parametrize("rank", [1, 2, 3])


def value(*shape: int) -> SSAValue:
    return Block(arg_types=[tensor_type(shape, f32)]).args[0]


def refused(op: str, *operands: SSAValue, **attributes: Any) -> str:
    with pytest.raises(ConstraintError) as caught:
        get_relay_op(op).call(*operands, **attributes)
    return str(caught.value)


@RANKS
@pytest.mark.parametrize("op", ["nn.conv", "nn.max_pool", "nn.avg_pool"])
def test_windows(op: str, rank: int) -> None:
    name, extents = f"{op}{rank}d", [6] * rank
    operands = [value(1, 4, *extents)]
    fits: dict[str, Any] = {} if op == "nn.conv" else {"pool_size": [3] * rank}
    operands += [value(4, 4, *[3] * rank)] if op == "nn.conv" else []
    id = rf"[relay.{name} "
    for what in ("strides", "dilation"):
        assert f"{id}C7] {what} must be {NUMBERS[rank]}, found [0" in refused(
            name, *operands, **fits, **{what: [0] * rank}
        )
        wrong = [1] * (rank + 1)
        assert f"{id}C7] {what} must be {NUMBERS[rank]}, found {wrong}" in refused(
            name, *operands, **fits, **{what: wrong}
        )
    text = f"{id}C8] padding must be {SIDES[rank]} non-negative numbers, found "
    assert text + "[-1" in refused(name, *operands, **fits, padding=-1)
    assert text + str([1] * 5) in refused(name, *operands, **fits, padding=[1] * 5)
    letter = AXES[rank][-1]
    text = f"{id}C9] a window of 3 (dilation 4) is larger than the padded {letter} extent 8"
    assert text in refused(name, *operands, **fits, dilation=[1] * (rank - 1) + [4], padding=1)


@RANKS
def test_sizes(rank: int) -> None:
    data, one = value(1, 4, *[6] * rank), [1] * rank
    for op in ("max_pool", "avg_pool"):
        name = f"nn.{op}{rank}d"
        found = refused(name, data, pool_size=[0, *one[1:]])
        assert f"[relay.{name} C6] pool_size must be {NUMBERS[rank]}, found [0" in found
        assert "C6] pool_size must be" in refused(name, data, pool_size=[1] * 4)
        for text in ("strides", "padding"):
            found = refused(name, data, pool_size=one, **{text: 2**63 - 1})
            assert f"{text} must not exceed 1099511627776, found [9223372036854775807" in found
    name = f"nn.conv{rank}d"
    found = refused(name, data, value(4, 4, *one[1:], 0))
    assert f"[relay.{name} C6] kernel_size must be {NUMBERS[rank]}, found [" in found
    found = refused(name, data, value(4, 4, *one), kernel_size=[1] * 4)
    assert re.search(rf"\[relay\.{name} C6\] kernel_size must be \w+ numbers?, found \[1, 1, 1, 1\]", found)
    found = refused(name, data, value(4, 4, *one), kernel_size=[*one[1:], 2])
    assert f"[relay.{name} C6] kernel width and kernel_size differ: 1 != 2" in found


@RANKS
def test_layouts(rank: int) -> None:
    axes, data = AXES[rank], value(1, 4, *[6] * rank)
    known = ", ".join(f"NC{axes}")
    for op in ("max_pool", "avg_pool", "global_max_pool", "global_avg_pool"):
        name = f"nn.{op}{rank}d"
        window: dict[str, Any] = {} if "global" in op else {"pool_size": 2}
        found = refused(name, data, layout="NCX", **window)
        assert f"[relay.{name} C1] layout NCX must have the axes {known}" in found
        found = refused(name, data, layout=f"NC{axes}2w", **window)
        assert f"[relay.{name} C1] layout NC{axes}2w splits W" in found
        found = refused(name, value(1, 4), **window)
        assert f"[relay.{name} C2] layout NC{axes} has {rank + 2} axes, the shape (1, 4) 2" in found
    name, weight = f"nn.conv{rank}d", value(4, 4, *[3] * rank)
    filters = ", ".join(f"OI{axes}")
    found = refused(name, data, weight, kernel_layout="OIX")
    assert f"[relay.{name} C1] layout OIX must have the axes {filters}" in found
    assert f"[relay.{name} C2] layout NC{axes} has" in refused(name, value(1, 4), weight)


@RANKS
def test_channels(rank: int) -> None:
    name, data, one = f"nn.conv{rank}d", value(1, 6, *[6] * rank), [1] * rank
    assert f"[relay.{name} C3] the weight has 4 input channels, the data has 6" in refused(
        name, data, value(4, 4, *one)
    )
    found = refused(name, data, value(4, 4, *one), groups=2)
    assert f"[relay.{name} C3] the weight has 4 input channels, the data has 6 (groups = 2)" in found
    assert f"[relay.{name} C4] groups must be positive, found 0" in refused(name, data, value(4, 6, *one), groups=0)
    found = refused(name, data, value(4, 2, *one), groups=3)
    assert f"[relay.{name} C4] out-channels 4 modulo groups 3: 1 != 0" in found
    found = refused(name, data, value(4, 6, *one), channels=5)
    assert f"[relay.{name} C5] kernel out-channels and channels differ: 4 != 5" in found


@RANKS
def test_transposed_convolutions(rank: int) -> None:
    name, data, one, axes = f"nn.conv{rank}d_transpose", value(1, 6, *[4] * rank), [1] * rank, AXES[rank]
    id, weight = f"[relay.{name} ", value(6, 4, *[3] * rank)
    filters = ", ".join(f"IO{axes}")
    assert f"{id}C1] layout OIX must have the axes {filters}" in refused(name, data, weight, kernel_layout="OIX")
    assert f"{id}C2] layout NC{axes} has {rank + 2} axes" in refused(name, value(1, 6), weight)
    assert f"{id}C3] the weight has 4 input channels, the data has 6" in refused(name, data, value(4, 4, *one))
    assert f"{id}C4] in-channels 6 modulo groups 4: 2 != 0" in refused(name, data, weight, groups=4)
    assert f"{id}C4] groups must be positive, found 0" in refused(name, data, weight, groups=0)
    found = refused(name, data, weight, groups=2, channels=4)
    assert f"{id}C5] kernel out-channels and channels differ: 8 != 4" in found
    assert f"{id}C6] kernel width and kernel_size differ: 3 != 2" in refused(
        name, data, weight, kernel_size=[*[3] * (rank - 1), 2]
    )
    assert f"{id}C7] strides must be {NUMBERS[rank]}, found [0" in refused(name, data, weight, strides=[0] * rank)
    assert f"{id}C8] padding must be {SIDES[rank]} non-negative numbers" in refused(name, data, weight, padding=-1)
    found = refused(name, data, weight, padding=[0] * (rank - 1) + [3] + [0] * (rank - 1) + [3])
    assert f"{id}C9] the result has the W extent 0: its windows cover 6, of which padding is 6" in found
    assert f"{id}C12] output_padding must be {MORE[rank]}, found [-1" in refused(
        name, data, weight, output_padding=[-1] * rank
    )


def test_elements_of_a_transposed_convolution() -> None:
    data, doubles = value(1, 2, 4, 4), Block(arg_types=[tensor_type((2, 4, 3, 3), f64)]).args[0]
    name = "nn.conv2d_transpose"
    assert f"[relay.{name} C10] element types f32 != f64" in refused(name, data, doubles)
    found = refused(name, data, value(2, 4, 3, 3), out_dtype=StringAttr("f32"))
    assert f"[relay.{name} C11] the dtype must be an element type" in found
    weight = Block(arg_types=[IncompleteType()]).args[0]
    op = get_relay_op(name).call(data, weight, channels=8, kernel_size=(3, 3), groups=2)
    facts = Facts(op.name, op.operand_types)
    assert op.infer_operand_types(facts, IncompleteType())[1] == tensor_type((2, 4, 3, 3), f32)
