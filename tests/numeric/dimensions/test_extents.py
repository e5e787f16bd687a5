"""Values that become extents: the interpreters of relay and topi agree."""

import numpy as np
import pytest
from support.levels import outputs, run_passes

from xrelay.errors import InterpreterError
from xrelay.interpreters.at_level import run_at_level
from xrelay.passes.infra.source import full_context, parse_module

KERNELS = "relay-infer-type,relay-to-basic-block-normal-form,relay-fuse-ops,relay-outline-fused,convert-relay-to-topi"
BOUND = """
func.func @main(%x: tensor<?xf32, #relay.dims<n>>, %s: tensor<2xi64>, %c: tensor<i64>) -> !relay.incomplete {
  %v = relay.extents(%s) : (tensor<2xi64>) -> tensor<2xi64>
  %y = relay.dyn.reshape(%x, %v) {allowzero = true}
      : (tensor<?xf32, #relay.dims<n>>, tensor<2xi64>) -> !relay.incomplete
  %e = relay.exp(%y) : (!relay.incomplete) -> !relay.incomplete
  %k = relay.cut(%e, %c) {axis = 1} : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  %r = relay.negative(%k) : (!relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}"""


def arguments(shape: tuple[int, ...], count: int):
    return [np.arange(np.prod(shape), dtype=np.float32), np.array(shape, np.int64), np.array(count, np.int64)]


@pytest.mark.parametrize("shape", [(2, 3), (1, 0), (7, 1)])
def test_bound_extents_mean_the_same_at_both_levels(shape: tuple[int, ...]):
    module = parse_module(full_context(), BOUND, "bound.mlir")
    run_passes(module, "relay-infer-type")
    count = min(shape[1], 2)
    given = arguments(shape, count)
    (expected,) = outputs(module, given)
    np.testing.assert_array_equal(expected, -np.exp(given[0].reshape(shape))[:, :count])
    run_passes(module, KERNELS)
    (found,) = run_at_level("topi", module, "main", given)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "count", "message"),
    [
        ((-2, -3), 1, r"\[relay.extents C3\] element 0 is -2"),
        ((2, 3), 4, r"\[relay.cut C4\] the count is 4, axis 1 has 3 elements"),
        ((2, 3), -1, r"\[relay.cut C4\] the count is -1"),
    ],
)
def test_what_is_no_extent_is_refused(shape: tuple[int, ...], count: int, message: str):
    module = parse_module(full_context(), BOUND, "bound.mlir")
    run_passes(module, "relay-infer-type")
    with pytest.raises(InterpreterError, match=message):
        outputs(module, arguments(shape, count))
    run_passes(module, KERNELS)
    with pytest.raises(InterpreterError, match=message):
        run_at_level("topi", module, "main", arguments(shape, count))
