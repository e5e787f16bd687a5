"""Test helpers: run a pass on an expression, check gradients, create random arrays, count operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InputError
from xrelay.nd import array
from xrelay.relay import Call, Expr, Function, IRModule, create_executor
from xrelay.relay.analysis import post_order_visit
from xrelay.relay.testing.init import tensor_type
from xrelay.relay.transform import InferType, gradient


def run_opt_pass(expr: Expr, opt_pass: Callable[[IRModule], Any], import_prelude: bool = False) -> Expr:
    """Returns the expression or function after type inference and a pass."""
    if import_prelude:
        raise InputError("there is no prelude", help="omit import_prelude")
    function: Function = opt_pass(InferType()(IRModule.from_expr(expr)))["main"]
    return function if isinstance(expr, Function) else function.body


def run_infer_type(expr: Expr) -> Expr:
    """Returns the expression or function with inferred types."""
    return run_opt_pass(expr, InferType())


def check_grad(
    func: Function,
    inputs: Sequence[NDArray[Any]] | None = None,
    test_inputs: Sequence[NDArray[Any]] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    scale: float | None = None,
    mean: float = 0,
    mode: str = "higher_order",
    target_devices: Sequence[tuple[Any, Any]] | None = None,
    executor_kind: str = "debug",
) -> None:
    """Compares the gradients of a function with central differences; raises `AssertionError` if they differ.

    The differences have the step `eps` for each element of `test_inputs`, by default all `inputs`. Default inputs are
    random, with the standard deviation `scale` (10 eps by default). Use float64, or a greater `eps`.
    """
    forward = run_infer_type(func)
    if not isinstance(forward, Function):
        raise InputError(f"{func!r} is not a function", help="pass a relay.Function")
    if inputs is None:
        inputs = [_random(param, 10 * eps if scale is None else scale, mean) for param in forward.params]
    tested = list(inputs) if test_inputs is None else list(test_inputs)
    for target, device in target_devices if target_devices is not None else (("llvm", None),):
        executor = create_executor(executor_kind, device=device, target=target)
        backward = executor.evaluate(run_infer_type(gradient(forward, mode=mode)))
        value = executor.evaluate(forward)
        _, grads = backward(*inputs)
        found = [grad for leaf, grad in zip(inputs, grads, strict=True) if any(leaf is each for each in tested)]
        for leaf, grad in zip(tested, found, strict=True):
            wanted = _differences(value, inputs, leaf, eps)
            np.testing.assert_allclose(np.asarray(grad, np.float64), wanted, atol=atol, rtol=rtol)


def _random(param: Expr, scale: float, mean: float) -> NDArray[Any]:
    type = tensor_type(param)
    return np.asarray(mean + scale * np.random.standard_normal(type.concrete_shape)).astype(type.dtype)


def _differences(value: Any, inputs: Sequence[NDArray[Any]], leaf: NDArray[Any], eps: float) -> NDArray[np.float64]:
    """Returns the derivative of the sum of the results by each element of `leaf`, one of the inputs."""
    changes = np.zeros(leaf.shape)
    for index in np.ndindex(*leaf.shape):
        before = leaf[index]
        sides: list[NDArray[np.float64]] = []
        for moved in (before + eps, before - eps):
            leaf[index] = moved
            sides.append(np.asarray(value(*inputs), np.float64))
        leaf[index] = before
        changes[index] = np.sum((sides[0] - sides[1]) / (2 * eps))
    return changes


def rand(dtype: str, *shape: int) -> NDArray[Any]:
    """Returns an array of random numbers from 0 to 1."""
    return array(np.asarray(np.random.rand(*shape)).astype(dtype))


def count_ops(expr: Expr) -> Counter[str]:
    """Returns how often each operator is called in an expression."""
    counts: Counter[str] = Counter()

    def count(node: Expr) -> None:
        name = getattr(node.op, "name", None) if isinstance(node, Call) else None
        counts.update([name] if isinstance(name, str) else [])

    post_order_visit(expr, count)
    return counts
