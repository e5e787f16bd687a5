"""Code of beginners: numpy arrays as operands, Python's operators, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.errors import XRelayError


def data(name: str = "x", shape: Any = (1, 3, 8, 8), dtype: str = "float32") -> relay.Var:
    return relay.var(name, shape=shape, dtype=dtype)


def conv(**attributes: Any) -> relay.Expr:
    return relay.nn.conv2d(data(), data("w", (4, 3, 3, 3)), **attributes)


def apply(name: str, *arguments: Any, **named: Any) -> relay.Expr:
    return relay.op_function(name)(*arguments, **named)


def test_an_array_on_the_left_is_an_operand() -> None:
    product = np.ones((8,), np.float32) * data()
    assert isinstance(product, relay.Expr)
    assert product.shape == (1, 3, 8, 8)


@pytest.mark.parametrize(
    ("apply", "meaning"),
    [
        (lambda x: x**2, lambda x: x**2),
        (lambda x: 2.0**x, lambda x: 2.0**x),
        (abs, abs),
        (lambda x: np.float32(3) - x, lambda x: 3 - x),
        (lambda x: -x / 2, lambda x: -x / 2),
    ],
)
def test_operators(apply: Callable[[Any], Any], meaning: Callable[[Any], Any]) -> None:
    x = np.linspace(-2, 2, 9, dtype=np.float32)
    model = xrelay.compile(relay.Module.from_expr(apply(data("x", (9,)))), threads=1)
    np.testing.assert_allclose(model(x)[0], meaning(x), rtol=1e-5, atol=1e-6)


def test_fields_count_from_the_end_too() -> None:
    parts = relay.split(data("x", (2, 6)), indices_or_sections=(1, 3), axis=1)
    assert parts[-1].shape == (2, 3)


def test_numbers_and_names_as_extents() -> None:
    assert data("x", np.array([2, 3])).shape == (2, 3)
    assert [str(dim) for dim in data("x", ("n", None, 3)).shape] == ["n", "?", "3"]


def test_a_flag_for_a_number_is_one() -> None:
    assert str(conv(groups=True).type) == str(conv(groups=1).type)


def test_integers_that_need_64_bits_keep_their_value() -> None:
    assert relay.const(2**40).dtype == np.int64
    assert relay.const(2**30).dtype == np.int32


def test_variables_of_one_name_are_inputs_of_two() -> None:
    first, second = data("x", (2,)), data("x", (2,))
    model = xrelay.compile(relay.Module.from_expr(relay.Function([first, second], first - second)), threads=1)
    assert model.input_names == ["x", "x_1"]
    (difference,) = model.run({"x": np.full(2, 3, np.float32), "x_1": np.ones(2, np.float32)})
    assert difference.tolist() == [2, 2]


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "float stride": (lambda: conv(strides=(1.5, 1)), r"nn\.conv2d C0.*'strides' cannot be \(1\.5, 1\)"),
    "text stride": (lambda: conv(strides="2"), "'strides' cannot be '2'"),
    "number too large": (lambda: conv(groups=2**70), "'groups' cannot be 1180591620717411303424"),
    "no operand": (lambda: relay.add(data(), None), "NoneType is neither an expression nor a number"),
    "object": (lambda: relay.add(data(), "abc"), "str is neither an expression"),
    "ragged": (lambda: relay.const([[1], [1, 2]]), "is not a constant"),
    "fraction and integers": (lambda: data("x", (2,), "int32") + 1.5, r"1\.5 is not of the tensor's dtype int32"),
    "integer too large": (lambda: data("x", (2,), "int8") + 300, "300 is not a constant"),
    "slice": (lambda: data()[0:1], r"slice\(0, 1, None\) is not an index.*relay\.split"),  # pyright: ignore
    "unknown op": (lambda: relay.nn.conv4d(data()), r"'nn.conv4d'.*did you mean 'nn.conv"),
    "unknown op on top": (lambda: relay.rellu(data()), r"'rellu'.*relu"),
    "negative extent": (lambda: data("x", (-1, 3)), "-1 is not an extent"),
    "fractional extent": (lambda: data("x", (1.5,)), r"1\.5 is not an extent"),
    r"extent of .* text cannot show": (lambda: data("x", ("batch size",)), "cannot be called 'batch size'"),
    "extent named as": (lambda: data("x", ("max",)), "cannot be called 'max'"),
    "shape is a number": (lambda: data("x", 5), "the shape is 5"),
    "name is a number": (lambda: data(5), "cannot be called 5"),  # pyright: ignore[reportArgumentType]
    "parameter is no variable": (lambda: relay.Function([relay.exp(data())], data()), "parameter #0 is not a variable"),  # pyright: ignore
    "parameter twice": (lambda: relay.Function([X, X], X), "variable 'x' is a parameter twice"),
    "parameters are no list": (lambda: relay.Function(X, X), "the parameters are x"),  # pyright: ignore
    "target": (lambda: xrelay.compile(MODULE, target=5), "^an int .*target"),  # pyright: ignore
    "threads": (lambda: xrelay.compile(MODULE, threads="2"), "threads is '2'; help: "),  # pyright: ignore
    "level": (lambda: xrelay.compile(MODULE, opt_level=2.5), r"opt_level is 2\.5, not an integer"),  # pyright: ignore
    "params": (lambda: xrelay.build(MODULE, params=[1]), "params is a list"),  # pyright: ignore
}
X = data()
MODULE = relay.Module.from_expr(relay.nn.relu(X))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_in_one_line(mistake: str) -> None:
    make, words = MISTAKES[mistake]
    with pytest.raises(XRelayError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: apply("stft", data("x", (1, 8)), n_fft="a"), r"\[relay.stft C0\] invalid arguments"),
        (lambda: apply("stft", data("x", (1, 8)), n_fft=2**31), r"\[relay.stft C"),
        (
            lambda: apply("nn.max_pool1d", data("x", (1, 3, 8)), padding=[None]),
            r"C0\] attributes cannot be .*padding = ",
        ),
        (lambda: apply("nn.max_pool2d", X, padding=["a"]), r"\[relay.nn.max_pool2d C0\] attributes cannot be"),
        (
            lambda: apply("nn.depth_to_space", X, 2, mode=np.zeros(2)),
            r"\[relay.nn.depth_to_space C0\] attribute 'mode'",
        ),
        (lambda: apply("collapse_sum_to", X, [None]), r"\[relay.collapse_sum_to C0\] invalid arguments"),
        (lambda: apply("nn.upsampling3d", X, layout=None), r"\[relay.nn.upsampling3d C0\] invalid arguments"),
        (lambda: apply("cast", X, relay.TensorType((2,))), "dtype .* has no element type"),
        (lambda: apply("reverse_sequence", X, relay.const([1]), seq_axes=1), r"unexpected keyword argument 'seq_axes'"),
    ],
)
def test_arguments_of_other_kinds(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(XRelayError, match=words):
        make()


def test_arrays_are_lists() -> None:
    pads = apply("nn.max_pool2d", data(), pool_size=np.array([2, 2]), padding=np.array([1, 0]))
    assert pads.shape == (1, 3, 9, 7)
    assert apply("reshape", data(), np.array([3, -1])).shape == (3, 64)


def test_operators_that_are_absent_are_absent_attributes() -> None:
    assert not hasattr(relay.nn, "conv4d")
    assert not hasattr(relay, "rellu")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("RefCreate", "there are no references to write through; help: return the changed value"),
        ("Match", "there are no algebraic data types; help: use tuples"),
        ("fromtext", "Relay's text format is not supported; help: xrelay.parse reads"),
    ],
)
def test_what_relay_has_and_this_has_not(name: str, reason: str) -> None:
    with pytest.raises(AttributeError, match=f"relay.{name} does not exist: {reason}") as caught:
        getattr(relay, name)
    assert isinstance(caught.value, XRelayError)
