"""`qconfig`: the configuration of `relay.quantize.quantize`, as a context.

    with relay.quantize.qconfig(calibrate_mode="percentile", skip_dense_layer=False):
        integers = relay.quantize.quantize(mod, params, dataset)

Contexts nest, and apply to the thread or asyncio task that entered them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from math import isfinite
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeGuard, cast

from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op
from xrelay.errors import InputError, did_you_mean
from xrelay.passes.qnn.quantization_points import BITS, WEIGHT_SCALES
from xrelay.passes.qnn.quantize_annotate import INPUT_DTYPES, WEIGHT_DTYPES
from xrelay.passes.qnn.quantize_realize import ROUNDINGS

GLOBAL_SCALE: Final = "global_scale"
KL_DIVERGENCE: Final = "kl_divergence"
PERCENTILE: Final = "percentile"
MAX: Final = "max"
CALIBRATE_MODES = (GLOBAL_SCALE, KL_DIVERGENCE, PERCENTILE, MAX)
"""The methods for bounds of tensors. `max` is an extension of Relay's."""

DISABLED: Final = "disabled"
FULLY_INTEGRAL: Final = "fully_integral"
PARTITIONS = (DISABLED, "enabled", FULLY_INTEGRAL)


@dataclass(frozen=True)
class QConfig:
    """The configuration of quantisation, created by `qconfig`. As a context it becomes `current_qconfig()`.

    Names and defaults are Relay's, except `per_channel`. Immutable.
    """

    nbit_input: int = 8
    """Bits of the inputs of products, 2 to 8."""
    nbit_weight: int = 8
    """Bits of weights, 2 to 8."""
    nbit_activation: int = 32
    """Bits of sums of products: 32."""
    dtype_input: str = "int8"
    """Element type of inputs: `int8`, symmetric around 0, or `uint8`, for the range of values of each tensor."""
    dtype_weight: str = "int8"
    """Element type of weights: `int8`."""
    dtype_activation: str = "int32"
    """Element type of sums of products: `int32`."""
    calibrate_mode: str = GLOBAL_SCALE
    """The method for bounds of tensors: `global_scale` without data; from a dataset `kl_divergence`, `percentile`
    (contains all but one in 100,000 elements), or `max` (contains all)."""
    global_scale: float = 8.0
    """The bound of every tensor in the mode `global_scale`."""
    weight_scale: str = "power2"
    """The bound of a weight: its greatest absolute value (`max`), or the least power of two not below it (`power2`)."""
    skip_dense_layer: bool = True
    """Whether `nn.dense` and `nn.matmul` stay in floats."""
    skip_conv_layers: tuple[int, ...] | None = (0,)
    """The numbers of the `nn.conv2d` that stay in floats, from 0; negative ones count from the last. None: no layer."""
    do_simulation: bool = False
    """Whether the result is the float program with rounding, instead of an integer program."""
    round_for_shift: bool = True
    """Has no effect: shifts always round."""
    debug_enabled_ops: tuple[str, ...] | None = None
    """The operators that may run on integers, by Relay's names; None for all."""
    rounding: str = "UPWARD"
    """The rounding of halves in requantisation: `UPWARD`, or `TONEAREST`, away from 0."""
    calibrate_chunk_by: int = -1
    """The number of tensors that one calibration run returns; fewer need less memory and more time; -1 for all."""
    partition_conversions: str = DISABLED
    """`enabled`: the result has functions `quantize_inputs`, `quantized_main` and `dequantize_outputs`, which `main`
    calls. `fully_integral`: in addition, floats in `quantized_main` are an error."""
    per_channel: bool = False
    """Whether weights have a scale per output channel, which is more accurate. An extension of Relay's options."""

    def __enter__(self) -> Self:
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _ENTERED.set(_ENTERED.get()[:-1])

    def get_nbit_by_kind(self, kind: int) -> int:
        """Returns the bits for a kind of `QAnnotateKind`. Raises `InputError` for a kind without bits."""
        return getattr(self, f"nbit_{_kind(kind)}")

    def get_dtype_by_kind(self, kind: int) -> str:
        """Returns the element type for a kind of `QAnnotateKind`. Raises `InputError` for a kind without one."""
        return getattr(self, f"dtype_{_kind(kind)}")


_ENTERED: ContextVar[tuple[QConfig, ...]] = ContextVar("qconfig", default=())
_DEFAULT: Final = QConfig()


def current_qconfig() -> QConfig:
    """Returns the innermost entered configuration, or the default."""
    entered = _ENTERED.get()
    return entered[-1] if entered else _DEFAULT


def qconfig(**options: object) -> QConfig:
    """Returns a configuration with these fields of `QConfig`, and defaults for the others.

    Lists are accepted for tuples. Raises `InputError` for an unknown field or an invalid value.
    """
    names = [field.name for field in fields(QConfig)]
    for name, value in options.items():
        if name not in names:
            hint = did_you_mean(name, names, f"its options are {', '.join(names)}")
            raise InputError(f"qconfig has no option {name!r}", help=hint)
        fits, expected = _CHECKS[name]
        if not fits(value):
            raise InputError(f"qconfig: {name} is {value!r}", help=f"it is {expected}")
    # The checks imply the types of the fields; a type checker cannot infer that from names.
    checked: dict[str, Any] = {
        name: tuple(cast("list[object]", value)) if isinstance(value, list) else value
        for name, value in options.items()
    }
    config = QConfig(**checked)
    for name in config.debug_enabled_ops or ():
        try:
            get_relay_op(name)
        except UnknownOpError as error:
            raise InputError(f"qconfig: debug_enabled_ops: {error.message}", help=error.help) from error
    return config


# --- checks of values ----------------------------------------------------------------------------------------------


_Check: TypeAlias = tuple[Callable[[object], bool], str]
"""Whether a value fits, and a description of values that do."""


def _one_of(*known: object) -> _Check:
    return lambda value: value in known and not isinstance(value, bool), " or ".join(map(str, known))


def _list_of(kind: type[object], items: str) -> _Check:
    def fits(value: object) -> bool:
        found = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
        return all(isinstance(each, kind) and not isinstance(each, bool) for each in found) and found is value

    return lambda value: value is None or fits(value), f"a list of {items}, or None"


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value > 0


_FLAG: Final[_Check] = (lambda value: isinstance(value, bool), "True or False")
_BITS: Final[_Check] = (
    lambda value: _is_integer(value) and value in BITS,
    f"a number of bits, {BITS[0]} to {BITS[-1]}",
)
_CHECKS: Final[Mapping[str, _Check]] = {
    "nbit_input": _BITS,
    "nbit_weight": _BITS,
    "nbit_activation": _one_of(32),
    "dtype_input": _one_of(*INPUT_DTYPES),
    "dtype_weight": _one_of(*WEIGHT_DTYPES),
    "dtype_activation": _one_of("int32"),
    "calibrate_mode": _one_of(*CALIBRATE_MODES),
    "global_scale": (_is_positive, "a finite number above 0"),
    "weight_scale": _one_of(*WEIGHT_SCALES),
    "skip_dense_layer": _FLAG,
    "skip_conv_layers": _list_of(int, "numbers of convolutions"),
    "do_simulation": _FLAG,
    "round_for_shift": _FLAG,
    "debug_enabled_ops": _list_of(str, "names of operators"),
    "rounding": _one_of(*ROUNDINGS),
    "calibrate_chunk_by": (
        lambda value: _is_integer(value) and (value == -1 or value > 0),
        "a number of tensors, or -1 for all of them",
    ),
    "partition_conversions": _one_of(*PARTITIONS),
    "per_channel": _FLAG,
}

# --- Relay's kinds -------------------------------------------------------------------------------------------------


class QAnnotateKind:
    """Relay's numbers for the kinds of quantised tensors."""

    IDENTITY = 0
    INPUT = 1
    WEIGHT = 2
    ACTIVATION = 3


_KINDS: Final = ("identity", "input", "weight", "activation")


def kind2str(kind: int) -> str:
    """Returns the name of a kind of `QAnnotateKind`. Raises `InputError` for any other number."""
    if not _is_integer(kind) or not 0 <= kind < len(_KINDS):
        raise InputError(f"{kind!r} is not a kind of QAnnotateKind", help=f"they are 0 to {len(_KINDS) - 1}")
    return _KINDS[kind]


def _kind(kind: int) -> str:
    name = kind2str(kind)
    if name == _KINDS[0]:
        raise InputError("the kind identity has no bits", help="use INPUT, WEIGHT or ACTIVATION")
    return name
