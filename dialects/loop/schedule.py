"""Schedules as data: each primitive is a frozen dataclass, and a list of them is the attribute `#loop.schedule<[…]>`.

The text form of a primitive is derived from its fields. Fields without a default are positional. The others are printed
as `name = value` if they differ from their default. If the last positional field is annotated as a tuple, it takes all
remaining arguments: `split("ow", 14, tail = mask)`, `reorder("oc", "oh", "ow")`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, TypeVar

from typing_extensions import override
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.loop.base import Tail
from xrelay.errors import did_you_mean
from xrelay.plugins import load_plugins
from xrelay.registrations import note_registration

Value = str | int | tuple[str, ...] | Tail | None
"""The types of the fields of primitives."""


@dataclass(frozen=True)
class SchedulePrimitive:
    """One step of a schedule. A subclass defines `primitive`, its name in text, and its fields.

    The metadata of a field are `help`, the text of the pass's option; `names`, set if the field names loops or blocks;
    and `option`, the name of the pass's option if the field's name is taken.
    """

    primitive: ClassVar[str]

    def problem(self) -> str | None:
        """The error in the values that is independent of any kernel, or `None`."""
        return None


def names(help: str) -> Mapping[str, Any]:
    """The metadata of a field that names one or several loops or blocks; `help` is the text of the pass's option."""
    return {"help": help, "names": True}


PRIMITIVES: dict[str, type[SchedulePrimitive]] = {}
"""Every registered primitive by its name in text; `register_primitive` adds to it."""

P = TypeVar("P", bound=type[SchedulePrimitive])


def register_primitive(cls: P) -> P:
    """Class decorator that registers a primitive for the text form."""
    PRIMITIVES[cls.primitive] = cls
    note_registration(cls)
    return cls


@register_primitive
@dataclass(frozen=True)
class Split(SchedulePrimitive):
    """Loop `loop` becomes `<loop>_o` around `<loop>_i` with `factor` iterations; `names` replaces these names."""

    primitive: ClassVar[str] = "split"
    loop: str = field(metadata=names("the loop to split"))
    factor: int = field(metadata={"help": "iterations of the inner loop"})
    tail: Tail = field(default=Tail.PEEL, metadata={"help": "how a partial last tile is handled: peel or mask"})
    names: tuple[str, ...] = field(default=(), metadata={"help": "names of the outer and the inner loop"})

    @override
    def problem(self) -> str | None:
        if self.factor < 1:
            return f"the factor must be positive, got {self.factor}"
        return f"two names are needed, got {len(self.names)}" if len(self.names) not in (0, 2) else None


@register_primitive
@dataclass(frozen=True)
class Cut(SchedulePrimitive):
    """Loop `loop` becomes `<loop>_first`, its first iterations, `<loop>` and `<loop>_last`, its last iterations."""

    primitive: ClassVar[str] = "cut"
    loop: str = field(metadata=names("the loop to cut"))
    first: int = field(default=0, metadata={"help": "iterations of the first part"})
    last: int = field(default=0, metadata={"help": "iterations of the last part"})

    @override
    def problem(self) -> str | None:
        if min(self.first, self.last) < 0 or self.first == self.last == 0:
            return f"a part must have iterations, got {self.first} and {self.last}"
        return None


@register_primitive
@dataclass(frozen=True)
class Guard(SchedulePrimitive):
    """Blocks inside of the loop skip iterations beyond its extent, so that a split need not divide it."""

    primitive: ClassVar[str] = "guard"
    loop: str = field(metadata=names("the loop whose extent is guarded"))


@register_primitive
@dataclass(frozen=True)
class Fuse(SchedulePrimitive):
    """`outer` and `inner`, directly inside it, become one loop `name` (`<outer>_<inner>` by default)."""

    primitive: ClassVar[str] = "fuse"
    outer: str = field(metadata=names("the outer loop"))
    inner: str = field(metadata=names("the loop directly inside it"))
    name: str | None = field(default=None, metadata={"help": "the name of the fused loop", "option": "into"})


@register_primitive
@dataclass(frozen=True)
class Reorder(SchedulePrimitive):
    """Permutes loops of one perfect nest into the given order."""

    primitive: ClassVar[str] = "reorder"
    loops: tuple[str, ...] = field(metadata=names("the loops in their new order"))

    @override
    def problem(self) -> str | None:
        if len(self.loops) < 2:
            return f"at least two loops are needed, got {len(self.loops)}"
        twice = sorted({name for name in self.loops if self.loops.count(name) > 1})
        return f"loop {twice[0]!r} is named twice" if twice else None


@register_primitive
@dataclass(frozen=True)
class Tile(SchedulePrimitive):
    """Splits `outer` and `inner` by their factors and moves both inner parts inside: `a_o, b_o, a_i, b_i`."""

    primitive: ClassVar[str] = "tile"
    outer: str = field(metadata=names("the outer loop"))
    inner: str = field(metadata=names("the inner loop"))
    outer_factor: int = field(metadata={"help": "iterations of the outer loop in a tile"})
    inner_factor: int = field(metadata={"help": "iterations of the inner loop in a tile"})
    tail: Tail = field(default=Tail.PEEL, metadata={"help": "how a partial last tile is handled: peel or mask"})

    @override
    def problem(self) -> str | None:
        if self.outer == self.inner:
            return f"two loops are needed, got {self.outer!r} twice"
        smallest = min(self.outer_factor, self.inner_factor)
        return f"the factors must be positive, got {smallest}" if smallest < 1 else None


@register_primitive
@dataclass(frozen=True)
class Unroll(SchedulePrimitive):
    """The loop becomes straight-line code."""

    primitive: ClassVar[str] = "unroll"
    loop: str = field(metadata=names("the loop to unroll"))


@register_primitive
@dataclass(frozen=True)
class Vectorize(SchedulePrimitive):
    """The iterations of the loop become lanes of vectors."""

    primitive: ClassVar[str] = "vectorize"
    loop: str = field(metadata=names("the loop whose iterations become lanes"))
    access: str = field(
        default="rows",
        metadata={
            "help": "rows: lanes are adjacent in memory; masked: their branches may differ, too; "
            "any: other lanes are accessed one by one"
        },
    )

    @override
    def problem(self) -> str | None:
        known = self.access in ("rows", "masked", "any")
        return None if known else f"access is 'rows', 'masked' or 'any', got {self.access!r}"


@register_primitive
@dataclass(frozen=True)
class Contract(SchedulePrimitive):
    """The iterations of `lanes` become lanes; each lane sums the products along `loop` at once."""

    primitive: ClassVar[str] = "contract"
    loop: str = field(metadata=names("the loop along which products are summed"))
    lanes: str = field(metadata=names("the loop around it whose iterations become lanes"))


@register_primitive
@dataclass(frozen=True)
class Tensorize(SchedulePrimitive):
    """The instruction called `instruction` computes the loops inside of `loop`, for several iterations at once."""

    primitive: ClassVar[str] = "tensorize"
    loop: str = field(metadata=names("the loop along which products are summed"))
    instruction: str = field(metadata={"help": "the instruction, for example tdpbusd"})


@register_primitive
@dataclass(frozen=True)
class ExitEarly(SchedulePrimitive):
    """The loop ends after an iteration that changes no element."""

    primitive: ClassVar[str] = "exit_early"
    loop: str = field(metadata=names("the loop that may end early"))


@register_primitive
@dataclass(frozen=True)
class Parallelize(SchedulePrimitive):
    """The iterations of the loop run in several threads."""

    primitive: ClassVar[str] = "parallelize"
    loop: str = field(metadata=names("the loop whose iterations run on several threads"))


@register_primitive
@dataclass(frozen=True)
class CacheWrite(SchedulePrimitive):
    """`block` writes a buffer of its own in `space`; a new block `<block>_write` copies it to the original buffer."""

    primitive: ClassVar[str] = "cache_write"
    block: str = field(metadata=names("the block that writes to a separate buffer"))
    space: str = field(default="local", metadata={"help": "the memory space of that buffer"})
    names: tuple[str, ...] = field(default=(), metadata={"help": "names of the loops of the copy"})


@register_primitive
@dataclass(frozen=True)
class CacheRead(SchedulePrimitive):
    """Read number `operand` of `block` reads a copy, which a new block `<block>_read<operand>` fills before it."""

    primitive: ClassVar[str] = "cache_read"
    block: str = field(metadata=names("the block that reads the copy"))
    operand: int = field(metadata={"help": "index of the read in the body, from 0"})
    last: int = field(default=-1, metadata={"help": "the innermost dimension of the copy, -1: the last one"})

    @override
    def problem(self) -> str | None:
        return f"the index of the read must not be negative, got {self.operand}" if self.operand < 0 else None


@register_primitive
@dataclass(frozen=True)
class CacheInplace(SchedulePrimitive):
    """`block` updates its results in a local buffer during an iteration of `loop`; two new blocks load and store it."""

    primitive: ClassVar[str] = "cache_inplace"
    block: str = field(metadata=names("the block that updates its results"))
    loop: str = field(metadata=names("the loop whose iterations update a tile of the results"))


@register_primitive
@dataclass(frozen=True)
class ComputeAt(SchedulePrimitive):
    """The nest of `block` moves into `loop` of its consumer and computes the tile that the consumer reads."""

    primitive: ClassVar[str] = "compute_at"
    block: str = field(metadata=names("the producer"))
    loop: str = field(metadata=names("the loop of its consumer"))


@register_primitive
@dataclass(frozen=True)
class ReverseComputeAt(SchedulePrimitive):
    """The nest of `block` moves into `loop` of its producer and consumes the tile that the producer computes."""

    primitive: ClassVar[str] = "reverse_compute_at"
    block: str = field(metadata=names("the consumer"))
    loop: str = field(metadata=names("the loop of its producer"))


@register_primitive
@dataclass(frozen=True)
class ShareResult(SchedulePrimitive):
    """The buffer of `block` becomes the elements of a result that the last reader of the buffer overwrites."""

    primitive: ClassVar[str] = "share_result"
    block: str = field(metadata=names("the block that writes the buffer"))


@register_primitive
@dataclass(frozen=True)
class StorageAlign(SchedulePrimitive):
    """Neighbours along `dimension` of the buffer of `block` are a multiple of `factor` plus `offset` elements apart."""

    primitive: ClassVar[str] = "storage_align"
    block: str = field(metadata=names("the block that writes the buffer"))
    dimension: int = field(metadata={"help": "a dimension of the buffer, but not the last, from 0"})
    factor: int = field(metadata={"help": "the divisor of the distance, in elements"})
    offset: int = field(default=0, metadata={"help": "the remainder of the distance, in elements"})

    @override
    def problem(self) -> str | None:
        if not 0 <= self.offset < self.factor:
            return f"the offset is at least 0 and less than the factor, got {self.offset} and {self.factor}"
        return f"the dimension must not be negative, got {self.dimension}" if self.dimension < 0 else None


@register_primitive
@dataclass(frozen=True)
class PartialSums(SchedulePrimitive):
    """`block` sums the terms of each iteration of `loop` separately; these sums are then added to the result."""

    primitive: ClassVar[str] = "partial_sums"
    block: str = field(metadata=names("the block that adds"))
    loop: str = field(metadata=names("the loop whose iterations have separate sums"))
    factors: bool = field(
        default=False, metadata={"help": "whether a factor of all terms of an iteration multiplies their sum instead"}
    )


@register_primitive
@dataclass(frozen=True)
class Rfactor(SchedulePrimitive):
    """Every iteration of `loop` has results of its own in a new buffer; a new block `<block>_total` combines them."""

    primitive: ClassVar[str] = "rfactor"
    block: str = field(metadata=names("the block that reduces"))
    loop: str = field(metadata=names("the loop of its reduction that becomes an axis of the new buffer"))


@register_primitive
@dataclass(frozen=True)
class SetTail(SchedulePrimitive):
    """Sets the strategy for a partial last tile under `loop`."""

    primitive: ClassVar[str] = "set_tail"
    loop: str = field(metadata=names("the loop"))
    tail: Tail = field(metadata={"help": "peel or mask"})


@register_primitive
@dataclass(frozen=True)
class DisableUnroll(SchedulePrimitive):
    """Later stages must not unroll the loop."""

    primitive: ClassVar[str] = "disable_unroll"
    loop: str = field(metadata=names("the loop that must not be unrolled"))


@register_primitive
@dataclass(frozen=True)
class Prefetch(SchedulePrimitive):
    """The loop prefetches the weights of the next panel, or those of a later iteration."""

    primitive: ClassVar[str] = "prefetch"
    loop: str = field(metadata=names("the loop over the terms of sums"))
    ahead: int = field(default=0, metadata={"help": "iterations until the weights are used, 0: those of a panel"})

    @override
    def problem(self) -> str | None:
        return f"the number of iterations must not be negative, got {self.ahead}" if self.ahead < 0 else None


@irdl_attr_definition
class ScheduleAttr(Data[tuple[SchedulePrimitive, ...]]):
    """The schedule of a kernel, a list of steps: `#loop.schedule<[split("ow", 14), vectorize("oc_i")]>`."""

    name = "loop.schedule"

    def __init__(self, primitives: Iterable[SchedulePrimitive]):
        super().__init__(tuple(primitives))

    @override
    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[SchedulePrimitive, ...]:
        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_primitive(parser)))

    @override
    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets(), printer.in_square_brackets():
            printer.print_list(self.data, lambda step: printer.print_string(primitive_text(step)))

    @override
    def verify(self) -> None:
        for step in self.data:
            if (problem := step.problem()) is not None:
                raise VerifyException(f"[loop.schedule C1] {primitive_text(step)}: {problem}")


def primitive_text(step: SchedulePrimitive) -> str:
    """The printed form of a primitive: `split("ow", 14)`."""
    parts: list[str] = []
    for spec in fields(step):
        value: Value = getattr(step, spec.name)
        if spec.default is MISSING:
            parts.extend(map(_text, value) if isinstance(value, tuple) else [_text(value)])
        elif value != spec.default:
            parts.append(f"{spec.name} = {_text(value)}")
    return f"{step.primitive}({', '.join(parts)})"


def _text(value: Value) -> str:
    if isinstance(value, Tail):
        return str(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(name: str) -> str:
    """A name as a string literal; quotes, backslashes and control characters are escaped."""
    escaped = {'"': r"\22", "\\": r"\\", "\x7f": r"\7F"}
    shown = (f"\\{ord(char):02X}" if char < " " else escaped.get(char, char) for char in name)
    return f'"{"".join(shown)}"'


def _parse_primitive(parser: AttrParser) -> SchedulePrimitive:
    position = parser.pos
    name = parser.parse_identifier()
    if name not in PRIMITIVES:
        load_plugins("schedules")
    cls = PRIMITIVES.get(name)
    if cls is None:
        hint = did_you_mean(name, PRIMITIVES, f"known: {', '.join(sorted(PRIMITIVES))}")
        parser.raise_error(f"unknown schedule primitive '{name}'; {hint}", position)
    positional: list[Value] = []
    named: dict[str, Value] = {}

    def argument() -> None:
        key = parser.parse_optional_identifier()
        if key is None:
            positional.append(_parse_value(parser))
        elif parser.parse_optional_punctuation("=") is not None:
            named[key] = _parse_value(parser)
        else:
            positional.append(_tail(parser, key))

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
    try:
        return build_primitive(cls, positional, named)
    except TypeError as error:
        parser.raise_error(f"{name}: {error}", position)


def _parse_value(parser: AttrParser) -> Value:
    if (text := parser.parse_optional_str_literal()) is not None:
        return text
    if (word := parser.parse_optional_identifier()) is not None:
        return word == "true" if word in ("true", "false") else _tail(parser, word)
    names = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
    return parser.parse_integer(allow_boolean=False) if names is None else tuple(names)


def _tail(parser: AttrParser, word: str) -> Tail:
    if word not in list(Tail):
        parser.raise_error(f"expected peel or mask, got '{word}'")
    return Tail(word)


def build_primitive(
    cls: type[SchedulePrimitive], positional: Sequence[Value], named: dict[str, Value]
) -> SchedulePrimitive:
    """Builds a primitive from parsed values; raises `TypeError` for values that do not fit."""
    required = [spec for spec in fields(cls) if spec.default is MISSING]
    optional = {spec.name: spec for spec in fields(cls) if spec.default is not MISSING}
    values = list(positional)
    if required and str(required[-1].type).startswith("tuple"):
        rest = values[len(required) - 1 :]
        values = [*values[: len(required) - 1], _names(rest)]
    if len(values) != len(required):
        raise TypeError(f"takes {len(required)} positional arguments, got {len(positional)}")
    for spec, value in zip(required, values, strict=True):
        _check(spec.name, str(spec.type), value)
    for name, value in named.items():
        if name not in optional:
            raise TypeError(f"has no argument '{name}'")
        _check(name, str(optional[name].type), value)
    construct: Callable[..., SchedulePrimitive] = cls
    return construct(*values, **named)


def _names(values: Sequence[Value]) -> tuple[str, ...]:
    names = tuple(value for value in values if isinstance(value, str) and not isinstance(value, Tail))
    if len(names) != len(values):
        raise TypeError("takes names in double quotes only")
    return names


_EXPECTED: dict[str, tuple[type, str]] = {
    "str": (str, "a name in double quotes"),
    "int": (int, "a number"),
    "bool": (bool, "true or false"),
    "Tail": (Tail, "peel or mask"),
    "tuple[str, ...]": (tuple, "names in brackets"),
}


def _check(name: str, annotation: str, value: Value) -> None:
    expected, words = _EXPECTED[annotation.removesuffix(" | None")]
    is_other = (expected is str and isinstance(value, Tail)) or (expected is int and isinstance(value, bool))
    if is_other or not isinstance(value, expected):
        raise TypeError(f"argument '{name}' needs {words}, got {_text(value)}")
