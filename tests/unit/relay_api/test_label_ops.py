"""`LabelOps` from Python: functions have equal labels if they are equal, in every process."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from xrelay import relay, transform
from xrelay.errors import PassError
from xrelay.relay.expr import Expr

Make = Callable[[Expr, Expr], Expr]


def label(make: Make, dtype: str = "float32", names: str = "xy") -> str:
    """The label of the function of two variables."""
    x, y = (relay.var(name, shape=(2, 3), dtype=dtype) for name in names)
    labelled = transform.LabelOps()(relay.IRModule.from_expr(relay.Function([x, y], make(x, y))))
    return cast(str, cast(relay.IRModule, labelled)["main"].attrs["hash"])


def subtraction(x: Expr, y: Expr) -> Expr:
    return relay.nn.relu(x) - y


DIFFERENT: list[tuple[Make, Make]] = [
    (subtraction, lambda x, y: y - relay.nn.relu(x)),
    (subtraction, lambda x, y: relay.abs(x) - y),
    (lambda x, y: relay.sum(x + y, axis=0), lambda x, y: relay.sum(x + y, axis=1)),
    (lambda x, y: x + y * relay.const(1.0), lambda x, y: x + y * relay.const(2.0)),
    (
        lambda x, y: relay.const(np.ones((2, 3), np.float32)) + x + y,
        lambda x, y: relay.const(np.float32(1)) + x + y,
    ),
    (lambda x, y: relay.If(relay.const(True), x, y), lambda x, y: relay.If(relay.const(True), y, x)),
]


def test_names_do_not_count() -> None:
    assert label(subtraction) == label(subtraction, names="ab")


def test_a_label_is_the_same_in_every_process() -> None:
    assert label(lambda x, y: x + y) == "846d7d0501c56db4"


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_is_computed_counts(one: Make, other: Make) -> None:
    assert label(one) == label(one)
    assert label(one) != label(other)


def test_types_count() -> None:
    assert label(subtraction) != label(subtraction, "float64")


def test_what_is_shared_counts() -> None:
    def shared(x: Expr, y: Expr) -> Expr:
        exp = relay.exp(x)
        return relay.Tuple([exp + y, exp - y])

    assert label(shared) != label(lambda x, y: relay.Tuple([relay.exp(x) + y, relay.exp(x) - y]))


def test_groups_of_fusion_are_labelled() -> None:
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(4, 4, 1, 1))
    body = relay.nn.conv2d(relay.nn.conv2d(x, w), w)
    steps = transform.Sequential([transform.FuseOps(fuse_opt_level=0), transform.LabelOps()])
    mod = steps(relay.IRModule.from_expr(relay.Function([x, w], body)))
    first, second = (line for line in str(mod).splitlines() if "relay.fused" in line)
    assert first.partition("hash = ")[2] == second.partition("hash = ")[2] != ""
    assert 'data_layout = "NCHW"' in first


def test_options_are_refused() -> None:
    with pytest.raises(PassError, match="takes 0 positional options"):
        transform.LabelOps("main")
