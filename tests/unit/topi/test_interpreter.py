from __future__ import annotations

import numpy as np
import pytest
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


def test_what_has_no_meaning() -> None:
    with pytest.raises(InterpreterError, match="no function @g"):
        run_topi_module(module(SUM), "g", [])
    loop = "func.func @f() { func.call @f() : () -> ()\n func.return }"
    with pytest.raises(InterpreterError, match="@f: more than 64 calls are open"):
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
