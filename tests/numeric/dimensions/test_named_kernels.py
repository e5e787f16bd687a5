"""A topi text with named dimensions against relay's interpreter, at several sizes, including 0 and 1."""

from __future__ import annotations

import numpy as np
import pytest
from support.kernels.named_kernels import KERNELS, NamedKernel
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.loop.signature import kernel_dims
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import evaluate
from xrelay.interpreters.loop import run_kernel
from xrelay.interpreters.relay import run_relay
from xrelay.interpreters.topi import run_topi_module
from xrelay.lowering.registry import load_pass
from xrelay.passes.infra.source import full_context


def through(module: ModuleOp, *passes: str) -> ModuleOp:
    for name in passes:
        load_pass(name)().apply(full_context(), module)
        module.verify()
    return module


@pytest.mark.grid(1)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_topi_and_nests_compute_what_relay_does(kernel: NamedKernel) -> None:
    """A nest takes its extents as arguments, scheduled or not; each output element is written."""
    named = through(kernel.kernel(), "convert-relay-to-topi")
    inlined = through(named.clone(), "topi-expand-named", "topi-inline-injective")
    nests = through(inlined.clone(), "convert-topi-to-loop")
    (function,) = nests.ops
    assert isinstance(function, FuncOp)
    (scheduled,) = through(nests.clone(), "loop-assign-schedules", "loop-apply-schedules").ops
    assert isinstance(scheduled, FuncOp)
    relay = kernel.relay()
    for sizes in kernel.tried():
        inputs = kernel.inputs(sizes)
        (wanted,) = run_relay(relay, inputs)
        for module in (named, inlined):
            (found,) = run_topi_module(module, "k", inputs)
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5, err_msg=str(sizes))
        extents = [evaluate(dim, sizes) for dim in kernel_dims(function)]
        assert all(extent >= 0 for extent in extents)
        for form in (function, scheduled):
            found = np.full_like(wanted, 77)
            run_kernel(form, [*inputs, found, *extents])
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5, err_msg=str(sizes))


def test_an_index_is_checked_against_the_extent_that_there_is() -> None:
    kernel = next(kernel for kernel in KERNELS if kernel.name == "take_named")
    module = through(kernel.kernel(), "convert-relay-to-topi", "topi-expand-named", "topi-inline-injective")
    (function,) = through(module.clone(), "convert-topi-to-loop").ops
    assert isinstance(function, FuncOp)
    inputs = [np.zeros((5, 2), np.float32), np.array([0, 4, -5, 5], np.int32)]
    with pytest.raises(InterpreterError, match=r"5 is not in \[-5, 5\)"):
        run_topi_module(module, "k", inputs)
    extents = [evaluate(dim, {"n": 5, "m": 2}) for dim in kernel_dims(function)]
    with pytest.raises(InterpreterError, match=r"5 is not in \[-5, 5\)"):
        run_kernel(function, [*inputs, np.zeros((4, 2), np.float32), *extents])
