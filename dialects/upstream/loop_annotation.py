"""`#llvm.loop_annotation`, which controls LLVM's optimisation of one loop; part of `llvm_extras`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr, i1, i32
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

LoopOption: TypeAlias = bool | int
LoopOptions: TypeAlias = Mapping[str, LoopOption | Mapping[str, LoopOption]]

_FLAG, _COUNT = True, False
LOOP_OPTIONS: dict[str, bool | dict[str, bool]] = {
    "disableNonforced": _FLAG,
    "vectorize": {"disable": _FLAG, "predicateEnable": _FLAG, "scalableEnable": _FLAG, "width": _COUNT},
    "interleave": {"count": _COUNT},
    "unroll": {"disable": _FLAG, "count": _COUNT, "runtimeDisable": _FLAG, "full": _FLAG},
    "unrollAndJam": {"disable": _FLAG, "count": _COUNT},
    "distribute": {"disable": _FLAG},
    "mustProgress": _FLAG,
    "isVectorized": _FLAG,
}
"""The supported options of a loop annotation, by group, each with whether it is a flag or a count."""


@irdl_attr_definition
class LoopAnnotationAttr(ParametrizedAttribute):
    """Options of LLVM's optimisations for one loop.

    C1: options are those of `LOOP_OPTIONS`. C2: flags are `true` or `false`, counts are integers.

    ```mlir
    "test.op"() {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>} : () -> ()
    ```
    """

    name = "llvm.loop_annotation"

    options: DictionaryAttr

    @classmethod
    def of(cls, options: LoopOptions) -> LoopAnnotationAttr:
        """The annotation with these options, for example `of({"unroll": {"count": 4}})`."""
        return cls(DictionaryAttr({key: _option_attribute(value) for key, value in options.items()}))

    @classmethod
    def unroll_full(cls) -> LoopAnnotationAttr:
        """The annotation for full unrolling."""
        return cls.of({"unroll": {"full": True}})

    @classmethod
    def unroll_disable(cls) -> LoopAnnotationAttr:
        """The annotation that disables unrolling."""
        return cls.of({"unroll": {"disable": True}})

    def verify(self) -> None:
        """Checks C1 and C2."""
        for key, value in self.options.data.items():
            known = LOOP_OPTIONS.get(key)
            if known is None:
                raise VerifyException(f"[llvm.loop_annotation C1] {key!r} is not one of {', '.join(LOOP_OPTIONS)}")
            if isinstance(known, dict):
                _check_group(key, value, known)
            else:
                _check_option(key, value, known)

    def print_parameters(self, printer: Printer) -> None:
        """Prints `<group = <option = value, …>, …>`."""
        _print_options(printer, self.options)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Parses `<group = <option = value, …>, …>`."""
        return [_parse_options(parser)]


def _option_attribute(value: LoopOption | Mapping[str, LoopOption]) -> Attribute:
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, int):
        return IntegerAttr(value, i32)
    return DictionaryAttr({key: _option_attribute(inner) for key, inner in value.items()})


def _check_group(group: str, value: Attribute, known: Mapping[str, bool]) -> None:
    if not isinstance(value, DictionaryAttr):
        raise VerifyException(f"[llvm.loop_annotation C2] {group} = {value} should be {group} = <…>")
    for key, option in value.data.items():
        if key not in known:
            raise VerifyException(f"[llvm.loop_annotation C1] {group}.{key} is not one of {', '.join(known)}")
        _check_option(f"{group}.{key}", option, known[key])


def _check_option(name: str, option: Attribute, is_flag: bool) -> None:
    if not isinstance(option, IntegerAttr) or (option.type == i1) != is_flag:
        expected = "true or false" if is_flag else "an integer"
        raise VerifyException(f"[llvm.loop_annotation C2] {name} = {option} should be {expected}")


def _print_options(printer: Printer, options: DictionaryAttr) -> None:
    def print_one(item: tuple[str, Attribute]) -> None:
        printer.print_string(f"{item[0]} = ")
        if isinstance(item[1], DictionaryAttr):
            _print_options(printer, item[1])
        else:
            printer.print_attribute(item[1])

    with printer.in_angle_brackets():
        printer.print_list(options.data.items(), print_one)


def _parse_options(parser: AttrParser) -> DictionaryAttr:
    def parse_one() -> tuple[str, Attribute]:
        key = parser.parse_identifier()
        parser.parse_punctuation("=")
        if parser.parse_optional_characters("<") is None:
            return key, parser.parse_attribute()
        inner = dict(parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_one))
        parser.parse_characters(">")
        return key, DictionaryAttr(inner)

    return DictionaryAttr(dict(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_one)))
