from __future__ import annotations

import numpy as np
import pytest
from support.levels import run_passes
from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import InputError, InterpreterError
from xrelay.interpreters.topi import compute as compute_module
from xrelay.interpreters.topi import run_topi_module
from xrelay.passes.infra.source import full_context, parse_module


def module(text: str) -> ModuleOp:
    return parse_module(full_context(), text, "test")


SUM = """
func.func @f(%x: tensor<3x40xf32>) -> tensor<3xf32> {
  %r = topi.compute "sum" [%i : 3] reduce [%k : 40] init [%acc = 1.0 : f32] : tensor<3xf32> {
    %a = topi.read %x[%i, %k] : tensor<3x40xf32>
    %s = arith.addf %acc, %a : f32
    topi.yield %s : f32
  }
  func.return %r : tensor<3xf32>
}
"""


SUPPRESS = """
func.func @f(%sides: tensor<?x5x?xf32, #relay.dims<a, n>>, %order: tensor<?x1x?xi64, #relay.dims<b, n>>,
             %scores: tensor<?x1x?xf32, #relay.dims<b, n>>, %most: tensor<i64>, %zero: tensor<f32>)
    -> tensor<?x1x?xi1, #relay.dims<b, n>> {
  %kept = topi.suppress(%sides, %order, %scores, %most, %zero, %zero)
    : (tensor<?x5x?xf32, #relay.dims<a, n>>, tensor<?x1x?xi64, #relay.dims<b, n>>,
       tensor<?x1x?xf32, #relay.dims<b, n>>, tensor<i64>, tensor<f32>, tensor<f32>)
    -> tensor<?x1x?xi1, #relay.dims<b, n>>
  func.return %kept : tensor<?x1x?xi1, #relay.dims<b, n>>
}
"""


def test_boxes_and_rows_that_are_not_there_are_errors() -> None:
    sides, scores = np.zeros((1, 5, 2), np.float32), np.ones((1, 1, 2), np.float32)
    limits = [np.array(9), np.float32(0)]
    for place in (-3, 2):
        with pytest.raises(InterpreterError, match=f"the order of boxes has {place}, and the row has 2 boxes"):
            run_topi_module(module(SUPPRESS), "f", [sides, np.array([[[0, place]]]), scores, *limits])
    two = [np.concatenate([each, each]) for each in (np.zeros((1, 1, 2), np.int64), scores)]
    with pytest.raises(InterpreterError, match="sides of 1 batches do not fit an order of shape"):
        run_topi_module(module(SUPPRESS), "f", [sides, *two, *limits])


def test_chunks_of_a_reduction_make_one_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(120, dtype=np.float32).reshape(3, 40)
    whole = run_topi_module(module(SUM), "f", [x])
    monkeypatch.setattr(compute_module, "CHUNK_ELEMENTS", 16)
    np.testing.assert_allclose(run_topi_module(module(SUM), "f", [x])[0], whole[0])
    np.testing.assert_allclose(whole[0], x.sum(axis=1) + 1)


def test_a_fold_that_cannot_be_regrouped_runs_in_order() -> None:
    text = """
    func.func @f(%x: tensor<5xf32>) -> tensor<f32> {
      %r = topi.compute "horner" [] reduce [%k : 5] init [%acc = 0.0 : f32] : tensor<f32> {
        %a = topi.read %x[%k] : tensor<5xf32>
        %two = arith.constant 2.0 : f32
        %m = arith.mulf %acc, %two : f32
        %s = arith.addf %m, %a : f32
        topi.yield %s : f32
      }
      func.return %r : tensor<f32>
    }
    """
    x = np.array([1, 2, 3, 4, 5], np.float32)
    assert run_topi_module(module(text), "f", [x])[0] == np.polyval(x, 2)


def test_a_product_that_is_used_twice_is_not_lost() -> None:
    text = """
    func.func @f(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
      %a, %b = topi.compute "both" [] reduce [%k : 4] init [%s = 0.0 : f32, %m = 0.0 : f32] : tensor<f32>, tensor<f32> {
        %v = topi.read %x[%k] : tensor<4xf32>
        %p = arith.mulf %v, %v : f32
        %s1 = arith.addf %s, %p : f32
        %m1 = arith.maximumf %m, %p : f32
        topi.yield %s1, %m1 : f32, f32
      }
      func.return %a, %b : tensor<f32>, tensor<f32>
    }
    """
    total, largest = run_topi_module(module(text), "f", [np.array([1, 2, 3, 4], np.float32)])
    assert (total, largest) == (30, 16)


def test_a_read_that_leaves_the_tensor_is_an_error() -> None:
    text = """
    func.func @f(%x: tensor<4xf32>, %j: tensor<2xi64>) -> tensor<2xf32> {
      %r = topi.compute "take" [%i : 2] : tensor<2xf32> {
        %v = topi.read %j[%i] : tensor<2xi64>
        %p = arith.index_cast %v : i64 to index
        %a = topi.read %x[%p] : tensor<4xf32>
        topi.yield %a : f32
      }
      func.return %r : tensor<2xf32>
    }
    """
    x = np.arange(4, dtype=np.float32)
    assert run_topi_module(module(text), "f", [x, np.array([3, 0])])[0].tolist() == [3, 0]
    for index in (4, -1):
        with pytest.raises(InterpreterError, match=f"read at index {index} of axis 0"):
            run_topi_module(module(text), "f", [x, np.array([0, index])])


def test_a_guard_evaluates_one_side_only() -> None:
    text = """
    func.func @f(%x: tensor<4xf32>, %m: tensor<6xi1>) -> tensor<6xf32> {
      %r = topi.compute "g" [%i : 6] : tensor<6xf32> {
        %p = topi.read %m[%i] : tensor<6xi1>
        %v = topi.guard (%p) -> f32 {
          %a = topi.read %x[%i] : tensor<4xf32>
          topi.yield %a : f32
        } else {
          %one = arith.constant 1.0 : f32
          topi.yield %one : f32
        }
        topi.yield %v : f32
      }
      func.return %r : tensor<6xf32>
    }
    """
    x = np.array([5, 6, 7, 8], np.float32)
    inside = np.array([True, False, True, True, False, False])
    assert run_topi_module(module(text), "f", [x, inside])[0].tolist() == [5, 1, 7, 8, 1, 1]
    with pytest.raises(InterpreterError, match="read at index 4"):
        run_topi_module(module(text), "f", [x, np.ones(6, bool)])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "takes 1 inputs, 0 are given"),
        ([np.zeros((3, 41), np.float32)], r"input 0 of @f is float32\[3, 41\], not float32\[3, 40\]"),
        ([np.zeros((3, 40))], r"input 0 of @f is float64"),
    ],
)
def test_wrong_inputs(inputs: list[np.ndarray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_topi_module(module(SUM), "f", inputs)


def test_what_has_no_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_CALL_LIMIT", "100")
    with pytest.raises(InterpreterError, match="no function @g"):
        run_topi_module(module(SUM), "g", [])
    loop = "func.func @f() { func.call @f() : () -> ()\n func.return }"
    with pytest.raises(InterpreterError, match="@f: more than 100"):
        run_topi_module(module(loop), "f", [])


WINDOW = """
func.func private @k(%x: tensor<?xf32, #relay.dims<2 * n>>) -> tensor<?xf32, #relay.dims<n>> {
  %r = topi.compute "window" [%i : n] : tensor<?xf32, #relay.dims<n>> {
    %a = topi.read %x[%i + n] : tensor<?xf32, #relay.dims<2 * n>>
    topi.yield %a : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}
func.func @main(%x: tensor<?xf32, #relay.dims<2 * n>>) -> tensor<?xf32, #relay.dims<n>> {
  %r = func.call @k(%x) : (tensor<?xf32, #relay.dims<2 * n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %r : tensor<?xf32, #relay.dims<n>>
}
func.func @renamed(%x: tensor<?xf32, #relay.dims<4 * m>>) -> tensor<?xf32, #relay.dims<2 * m>> {
  %r = relay.call @k<n = 2 * m>(%x) : (tensor<?xf32, #relay.dims<4 * m>>) -> tensor<?xf32, #relay.dims<2 * m>>
  func.return %r : tensor<?xf32, #relay.dims<2 * m>>
}
func.func private @made(%x: tensor<f32>) -> tensor<?xf32, #relay.dims<n>> {
  %r = topi.compute "full" [%i : n] : tensor<?xf32, #relay.dims<n>> {
    %a = topi.read %x[] : tensor<f32>
    topi.yield %a : f32
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}
func.func @given(%x: tensor<?xf32, #relay.dims<n>>, %v: tensor<f32>) -> tensor<?xf32, #relay.dims<n>> {
  %r = func.call @made(%v) : (tensor<f32>) -> tensor<?xf32, #relay.dims<n>>
  func.return %r : tensor<?xf32, #relay.dims<n>>
}
"""


@pytest.mark.parametrize("name", ["k", "main", "renamed"])
def test_names_get_their_sizes_from_arrays_and_from_callers(name: str) -> None:
    program = module(WINDOW)
    for size in (4, 0, 8):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(run_topi_module(program, name, [x])[0], x[size // 2 :])


def test_a_name_that_no_array_tells_is_the_callers() -> None:
    (result,) = run_topi_module(module(WINDOW), "given", [np.zeros(3, np.float32), np.array(7, np.float32)])
    np.testing.assert_array_equal(result, [7, 7, 7])
    with pytest.raises(InputError, match="@made has no meaning for its inputs: n has no value"):
        run_topi_module(module(WINDOW), "made", [np.array(7, np.float32)])


def test_arrays_have_the_extents_that_names_say() -> None:
    with pytest.raises(InputError, match="n has no value"):
        run_topi_module(module(WINDOW), "k", [np.zeros(3, np.float32)])


def test_a_verifier_refuses_no_place_that_depends_on_a_size() -> None:
    text = """
    func.func @f(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32> {
      %r = topi.compute "last" [%i : 4] : tensor<4xf32> {
        %a = topi.read %x[n - 4 + %i] : tensor<?xf32, #relay.dims<n>>
        topi.yield %a : f32
      }
      func.return %r : tensor<4xf32>
    }
    """
    program = module(text)
    program.verify()
    x = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(run_topi_module(program, "f", [x])[0], x[2:])
    with pytest.raises(InterpreterError, match="read at index -1"):
        run_topi_module(program, "f", [x[:3]])


def at_topi_level(text: str) -> ModuleOp:
    found = module(text.replace("!U", "!relay.incomplete"))
    run_passes(found, "relay-infer-type,relay-name-extents,relay-outline-fused,convert-relay-to-topi")
    return found


def test_names_that_a_region_binds_end_with_it() -> None:
    """The second run of the inner loop has no iteration, and so no rows that determine their length."""
    program = at_topi_level("""
    func.func @main(%n: tensor<i64>, %p: tensor<1xi64>, %f: tensor<f32>) -> !U {
      %a = relay.dyn.full(%f, %p) : (tensor<f32>, tensor<1xi64>) -> !U
      %z = relay.constant dense<0> : tensor<2xi64>
      %o = relay.loop(%j, %s = %z : tensor<2xi64>) to %n : tensor<i64> -> !U {
        %one = relay.constant dense<1> : tensor<i64>
        %c = relay.subtract(%one, %j) : (tensor<i64>, tensor<i64>) -> tensor<i64>
        %l = relay.loop(%i, %g = %f : tensor<f32>) to %c : tensor<i64> -> !U {
          %q = relay.negative(%p) : (tensor<1xi64>) -> tensor<1xi64>
          %m = relay.negative(%q) : (tensor<1xi64>) -> tensor<1xi64>
          %d = relay.dyn.full(%g, %m) : (tensor<f32>, tensor<1xi64>) -> !U
          %e = relay.add(%a, %g) : (!U, tensor<f32>) -> !U
          %y = relay.tuple(%g, %d, %e) : (tensor<f32>, !U, !U) -> !U
          relay.yield %y : !U
        }
        %r = relay.tuple_get_item(%l) {index = 1} : (!U) -> !U
        %t = relay.tuple_get_item(%l) {index = 2} : (!U) -> !U
        %v = relay.shape_of(%r) : (!U) -> !U
        %w = relay.shape_of(%t) : (!U) -> !U
        %u = relay.tuple(%v, %w) : (!U, !U) -> !U
        %x = relay.concatenate(%u) {axis = 0} : (!U) -> !U
        %y = relay.tuple(%s, %x) : (tensor<2xi64>, !U) -> !U
        relay.yield %y : !U
      }
      %1 = relay.tuple_get_item(%o) {index = 1} : (!U) -> !U
      func.return %1 : !U
    }""")
    (shapes,) = run_topi_module(program, "main", [np.array(2), np.array([3]), np.array(0, np.float32)])
    assert shapes.tolist() == [[1, 3, 1, 3], [0, 0, 0, 3]]


def test_calls_of_kernels_are_checked() -> None:
    program = at_topi_level("""
    func.func @main(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>, %p: tensor<2xi64>)
        -> (!U, !U) {
      %z = relay.add(%x, %y) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> !U
      %w = relay.dyn.reshape(%x, %p) : (tensor<?xf32, #relay.dims<n>>, tensor<2xi64>) -> !U
      func.return %z, %w : !U, !U
    }""")
    for n, m, shape, message in [
        (3, 2, (3, 1), r":4:7: \[relay.add C2\] extents: broadcastable\(n, m\) is broadcastable\(3, 2\)"),
        (3, 1, (2, 2), r":5:7: \[relay.dyn.reshape C3\] .* is 3 == 4"),
    ]:
        with pytest.raises(InterpreterError, match=message):
            run_topi_module(program, "main", [np.zeros(n, np.float32), np.zeros(m, np.float32), np.array(shape)])
