"""`build` with Relay's interface: parameters become constants, the library creates the model for a device."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay, transform
from xrelay.contrib import graph_executor
from xrelay.errors import InputError


class Foreign:
    """An array of another library."""

    def __init__(self, array: NDArray[Any]):
        self._array = array

    def asnumpy(self) -> NDArray[Any]:
        return self._array


def scaled_sum() -> relay.Function:
    x, w = relay.var("x", shape=(2, 3)), relay.var("w")
    y = relay.add(relay.multiply(x, relay.var("scale", shape=(3,))), w)
    return relay.Function([*relay.analysis.free_vars(y)], y)


def params() -> dict[str, NDArray[Any]]:
    return {"w": np.full((2, 3), 0.5, np.float32), "scale": np.array([1, 2, 3], np.float32)}


X = np.arange(6, dtype=np.float32).reshape(2, 3)
EXPECTED = X * np.array([1, 2, 3], np.float32) + 0.5


def test_the_sequence_of_a_relay_script() -> None:
    lib = xrelay.build(scaled_sum(), "llvm", params=params())
    m = xrelay.GraphModule(lib["default"](None))
    assert m.get_num_inputs() == 1
    m.set_input("x", X)
    m.run()
    np.testing.assert_allclose(m.get_output(0).numpy(), EXPECTED, rtol=1e-6)


def test_bound_parameters_may_be_set_again() -> None:
    m = xrelay.GraphModule(xrelay.build(scaled_sum(), params=params()))
    m.set_input("x", X, **params())
    m.run()
    np.testing.assert_allclose(m.get_output(0), EXPECTED, rtol=1e-6)


def test_values_of_other_libraries_are_read() -> None:
    lib = xrelay.build(scaled_sum(), params={name: Foreign(array) for name, array in params().items()})
    np.testing.assert_allclose(lib(X)[0], EXPECTED, rtol=1e-6)


def test_without_parameters_they_are_inputs() -> None:
    function = relay.Function([x := relay.var("x", shape=(2, 3))], relay.nn.relu(x))
    lib = xrelay.build(relay.Module.from_expr(function))
    assert lib.input_names == ["x"]


def test_the_callers_module_and_arrays_stay() -> None:
    module, given = relay.Module.from_expr(scaled_sum()), params()
    before = str(module)
    lib = xrelay.build(module, params=given)
    assert str(module) == before
    given["scale"][:] = 0
    np.testing.assert_allclose(lib(X)[0], EXPECTED, rtol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"scale": np.zeros(4, np.float32)}, "tensor<3xf32>, its value tensor<4xf32>"),
        ({"scale": np.zeros(3, np.int32)}, "tensor<3xf32>, its value tensor<3xi32>"),
        ({"scale": "three"}, "'scale' is "),
        ({"scale": [[1], [1, 2]]}, "'scale' is "),
        ({"scale": np.zeros(3, np.complex64)}, "has dtype complex64, "),
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        xrelay.build(scaled_sum(), params=wrong)
    assert words in str(caught.value)


def test_the_library_has_one_entry() -> None:
    lib = xrelay.build(scaled_sum(), params=params())
    with pytest.raises(InputError, match="'default'"):
        lib["other"]


def test_unknown_targets_are_refused() -> None:
    with pytest.raises(InputError, match="cuda"):
        xrelay.build(scaled_sum(), "cuda", params=params())


def test_an_expression_is_a_program() -> None:
    lib = xrelay.build(relay.nn.relu(relay.var("x", shape=(2, 3))))
    assert lib.input_names == ["x"]


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(InputError, match="int is not a program"):
        xrelay.build(42)  # pyright: ignore
    with pytest.raises(InputError, match=r"Function .*"):
        xrelay.compile(scaled_sum())  # pyright: ignore


def test_the_context_around_gives_the_level() -> None:
    data = relay.var("data", shape=(1, 16, 8, 8))
    net = relay.nn.conv2d(data, np.ones((16, 16, 1, 1), np.float32))
    with transform.PassContext(opt_level=1):
        inside = xrelay.build(net)
    kernels = [
        len(lib.artifact.metadata.kernels) for lib in (inside, xrelay.build(net), xrelay.build(net, opt_level=1))
    ]
    # At level 3 there are also kernels before and after the convolution that convert to blocked layouts and back.
    assert kernels == [1, 3, 1]


def test_the_optimised_graph_computes_the_same() -> None:
    func = scaled_sum()
    module, left = relay.optimize(func, "llvm", params())
    assert left == {}
    assert [var.name_hint for var in module.get_global_vars()] == ["main"]
    assert [param.name for param in module["main"].params] == ["x"]
    (found,) = xrelay.compile(module, cache=False).run([X])
    np.testing.assert_array_equal(found, EXPECTED)


def test_the_context_around_says_which_passes_optimise() -> None:
    module = relay.IRModule.from_expr(relay.exp(relay.var("x", shape=(2, 3))) * relay.const(2.0) * relay.const(3.0))
    before = str(module)
    assert "relay.exp" in str(relay.optimize(module)[0])
    with transform.PassContext(opt_level=3, required_pass=["FastMath"]):
        assert "relay.fast_exp" in str(relay.build_module.optimize(module, target="llvm", params=None)[0])
    with (
        transform.PassContext(opt_level=1, disabled_pass=["relay-inline"]),
        pytest.raises(InputError, match="int is no"),
    ):
        relay.optimize(3)  # pyright: ignore
    assert str(module) == before


def test_the_older_form_of_building() -> None:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    func = relay.Function([x, w], x * w)
    graph, lib, params = relay.build(func, "llvm", params={"w": np.full(2, 3, np.float32)})
    assert params == lib.get_params() == {}
    module = graph_executor.create(graph, lib, xrelay.cpu())
    module.set_input(**params)
    module.run(x=np.ones(2, np.float32))
    assert module.get_output(0).tolist() == [3, 3]


def test_a_library_has_a_name_and_is_kept_in_a_file(tmp_path: Path) -> None:
    lib = relay.build(scaled_sum(), "llvm", params=params(), mod_name="net")
    lib.export_library(tmp_path / "net.so")
    loaded = xrelay.load_module(tmp_path / "net.so")
    assert (loaded.libmod_name, loaded.params, next(iter(loaded))) == ("net", {}, "net")
    assert isinstance(copy(loaded), xrelay.Library)
    inputs = {spec.name: np.ones(spec.known_shape, np.float32) for spec in lib.inputs}
    for name in ("net", "default"):
        found, wanted = (xrelay.GraphModule(each[name](xrelay.cpu())) for each in (loaded, lib))
        for module in (found, wanted):
            module.run(**inputs)
        assert found.get_output(0).tolist() == wanted.get_output(0).tolist()
    with pytest.raises(InputError, match="no entry 'other'; help: its entry is 'net'"):
        loaded["other"]


def test_executors_and_runtimes_are_checked() -> None:
    backend = relay.backend
    for executor in (backend.Executor("graph", {"link-params": True}), backend.Executor("aot"), "graph"):
        relay.build(scaled_sum(), params=params(), executor=executor, runtime=backend.Runtime("cpp"))
    assert backend.Executor("aot", {"unpacked-api": False})["unpacked-api"] is False
    assert backend.Executor("aot") == backend.Executor("aot", {}) != backend.Executor("graph")
    assert backend.Executor("aot") != backend.Runtime("cpp")
    assert "link-params" not in backend.Executor("graph")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: relay.backend.Executor("vm"), "no executor 'vm'; help: there are graph, aot"),
        (lambda: relay.backend.Executor("aot", {"unpacked-api": True}), "has unpacked-api False, not True"),
        (lambda: relay.backend.Executor("graph", {"link-param": 1}), "did you mean 'link-params'"),
        (lambda: relay.backend.Runtime("crt"), "no runtime 'crt'; help: model.export"),
        (lambda: relay.build(scaled_sum(), executor=relay.backend.Runtime("cpp")), "a Runtime is not a valid executor"),  # pyright: ignore
        (lambda: relay.build(scaled_sum(), runtime="c"), "no runtime 'c'"),
        (lambda: relay.build(scaled_sum(), mod_name=""), "mod_name is ''"),
    ],
)
def test_other_executors_and_runtimes_are_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        make()
