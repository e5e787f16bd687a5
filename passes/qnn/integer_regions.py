"""Rewrites the regions of `relay-fake-quantization-to-integer`: builds integer forms, and inserts complete ones.

`find_representable` walks forward from dequantisations and finds the values that integers can represent.
`find_requested` walks backward from quantisations and finds the parameters (`QuantParameters`) for which each value is
rounded. Both visit each op once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import ConstraintError, PassError
from xrelay.passes.graph.remarks import Remarks
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.graph.rewriting import Emitter, rewrite
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.qnn.integer_rules import (
    IntegerWriter,
    NoIntegerFormError,
    Quantized,
    QuantizedValue,
    QuantParameters,
    Result,
    Rule,
    all_integer_rules,
    float_constant,
)
from xrelay.passes.qnn.tables import function_table, look_up

NAME = "relay-fake-quantization-to-integer"


@dataclass(eq=False)
class _Form:
    """The integer form of a value: the ops that compute it, to be inserted before `source`, and the forms they read."""

    quantized: QuantizedValue
    source: Operation
    ops: Sequence[Operation] = ()
    reads: Sequence[_Form] = ()
    is_in: bool = False
    """Whether the ops have been inserted into the program."""


class IntegerRegions:
    """The regions of a module between dequantised and quantised values; `remarks` has the outcome of each.

    With `rounds_constants`, constants that are added to 32-bit sums are rounded to their steps.
    """

    def __init__(self, module: ModuleOp, optional: frozenset[str], *, name: str = NAME, rounds_constants: bool = False):
        self.remarks = Remarks(name)
        self._rounds_constants = rounds_constants
        self._module = module
        self._rules = {
            name: rule for name, rule in all_integer_rules().items() if not rule.optional or name in optional
        }

    def rewrite(self, *, hard_fail: bool) -> None:
        """Replaces quantisations of regions with complete forms; if `hard_fail`, raises `PassError` for others."""
        ops = self._ops()
        known = find_representable(ops, self._rules)
        forms = self._forms(ops, known)
        replacements = Replacements()
        for op in ops:
            if isinstance(op, QuantizeOp) and op.operands[0] in known.found:
                value, how = _quantized_by(op, known, forms, replacements), "computed with integers"
                if isinstance(value, Refusal):
                    from_table, how = _look_up_function(op), "computed with a table"
                    if from_table is None:
                        self._refuse(op, value, hard_fail=hard_fail)
                        continue
                    value = from_table
                self.remarks.applied(op, how)
                replacements.add(op.result, value)
                Rewriter.replace_op(op, [], [value])
        _erase_unused_forms(list(forms.values()))

    def rewrite_single_ops(self) -> None:
        """Replaces each op whose integer form needs no later quantisation, and dequantises its result."""
        rewrite(self._module, {})
        quantized_values: dict[SSAValue, QuantizedValue] = {}
        for op in self._ops():
            if isinstance(op, DequantizeOp):
                quantized_values[op.result] = Quantized(op.operands[0], params_of(op))
                continue
            rule = self._rules.get(op.relay_name())
            if rule is None or not any(operand in quantized_values for operand in op.operands):
                continue
            found = [quantized_values.get(operand) for operand in op.operands]
            form = _written(op, rule, found, None, rounds_constants=self._rounds_constants)
            if isinstance(form, Refusal):
                self.remarks.refused(op, form.message.removeprefix(f"{op.name}: "))
                continue
            quantized_values[op.results[0]] = form.quantized
            _insert_form(form)
            if isinstance(form.quantized, Quantized):
                result = _dequantized(op, form.quantized)
                quantized_values[result] = form.quantized
                op.results[0].replace_all_uses_with(result)
                self.remarks.applied(op, "computed with integers; its result is dequantised")

    def _ops(self) -> list[RelayOp]:
        return [op for op in walk_ops(self._module) if isinstance(op, RelayOp)]

    def _forms(
        self, ops: Sequence[RelayOp], known: Representable
    ) -> dict[tuple[SSAValue, QuantParameters | None], _Form | Refusal]:
        """The form of each value for each requested rounding, or a refusal."""
        requested = find_requested(ops, self._rules, known)
        forms: dict[tuple[SSAValue, QuantParameters | None], _Form | Refusal] = {}
        for op in ops:
            result = op.results[0]
            if isinstance(op, DequantizeOp):
                forms[result, None] = _Form(Quantized(op.operands[0], params_of(op)), op)
                continue
            rule = self._rules.get(op.relay_name())
            for params in requested.get(result, {}) if rule is not None else ():
                if rule is not None:
                    forms[result, params] = self._form_of(op, rule, params, known, forms)
        return forms

    def _form_of(
        self,
        op: RelayOp,
        rule: Rule,
        params: QuantParameters | None,
        known: Representable,
        forms: dict[tuple[SSAValue, QuantParameters | None], _Form | Refusal],
    ) -> _Form | Refusal:
        """The form of the result of `op` with these parameters, built from the forms of its operands."""
        passed = params if rule.result in (Result.UNCHANGED, Result.SHARED) else None
        reads: list[_Form] = []
        found: list[QuantizedValue | None] = []
        for operand in list(op.operands)[: rule.data_of(op)]:
            if not known.is_reached(operand):
                found.append(None)
                continue
            form = forms.get(known.form_of(operand, passed))
            if not isinstance(form, _Form):
                return form if form is not None else _too_many(op)
            reads.append(form)
            found.append(form.quantized)
        return _written(op, rule, found, params, reads, rounds_constants=self._rounds_constants)

    def _refuse(self, op: QuantizeOp, refusal: Refusal, *, hard_fail: bool) -> None:
        """Records, or raises, the reason why a region stays in floats."""
        if hard_fail and not refusal.is_boundary:
            raise PassError(
                f"{NAME}: {refusal.message}, so the operand of {op.name} stays float",
                location=describe_location(op),
                help="omit hard-fail to keep such regions",
            )
        self.remarks.refused(op, refusal.message)


def _written(
    op: RelayOp,
    rule: Rule,
    found: Sequence[QuantizedValue | None],
    params: QuantParameters | None,
    reads: Sequence[_Form] = (),
    *,
    rounds_constants: bool = False,
) -> _Form | Refusal:
    """Returns the form that a rule builds, or a refusal."""
    if any(map(_is_whole, leaf_types(op.result_types))):
        return Refusal(f"{op.name}: its result is already integer")
    writer = IntegerWriter(op, found, params, rounds_constants=rounds_constants or params is not None)
    try:
        return _Form(rule.write(writer), op, writer.ops, reads)
    except (NoIntegerFormError, ConstraintError) as error:
        for made in reversed(writer.ops):
            erase_op(made)
        message = error.message if isinstance(error, ConstraintError) else f"{op.name}: {error}"
        return Refusal(message)


def _is_whole(type: Attribute) -> bool:
    """Whether a type is a tensor of integers or booleans."""
    return isinstance(type, TensorType) and numpy_dtype(type.element_type).kind in "iub"


def _too_many(op: Operation) -> Refusal:
    return Refusal(f"{op.name} would be requantised in more than {MAX_GOALS} ways")


def _quantized_by(
    op: QuantizeOp,
    known: Representable,
    forms: dict[tuple[SSAValue, QuantParameters | None], _Form | Refusal],
    replacements: Replacements,
) -> SSAValue | Refusal:
    """Returns the integers that replace the result of the quantisation `op`, or a refusal.

    A form without ops of its own may be the result of another quantisation; `replacements` has its replacement.
    """
    data, params = op.operands[0], params_of(op)
    refusal = known.refusal(data)
    if refusal is not None:
        return refusal
    form = forms.get(known.form_of(data, params))
    if not isinstance(form, _Form):
        return form if form is not None else _too_many(op)
    if not isinstance(form.quantized, Quantized):
        return Refusal(f"{op.name} quantises a tuple")
    if not params.is_finite:
        return Refusal(f"{op.name} has a scale that is not a finite number")
    if not params.holds_zero_point:
        return Refusal(f"{op.name} has a zero point out of range of its integers")
    if not params.is_single and not form.quantized.params.is_like(params):
        return Refusal(f"the result has one scale per index of axis {params.axis}")
    _insert_form(form)
    quantized = replace(form.quantized, value=replacements.of(form.quantized.value))
    writer = IntegerWriter(op, (quantized,), params)
    value = writer.requantize(quantized, params)
    emit = Emitter(PatternRewriter(op), op)
    for made in writer.ops:
        emit.insert(made)
    return value


def _insert_form(form: _Form) -> None:
    """Inserts the ops of a form, and of the forms that it reads, before their sources."""
    pending = [form]
    while pending:
        current = pending.pop()
        if current.is_in:
            continue
        current.is_in = True
        block = current.source.parent
        if block is None:
            raise PassError(f"{current.source.name} is not in a block")
        for op in current.ops:
            block.insert_op_before(op, current.source)
        pending += current.reads


def _look_up_function(op: QuantizeOp) -> SSAValue | None:
    """The result of a table lookup, if the operand of `op` is a function of an 8-bit tensor; else `None`."""
    found = function_table(op)
    return None if found is None else look_up(Emitter(PatternRewriter(op), op), *found, "quantised_function.table")


def _dequantized(op: RelayOp, quantized: Quantized) -> SSAValue:
    """The dequantised integers, in the element type of the result of `op`."""
    type, params = op.results[0].type, quantized.params
    emit = Emitter(PatternRewriter(op), op)
    dtype = type.element_type if isinstance(type, TensorType) else None
    axis = -1 if params.is_single else params.axis
    return emit.call(DequantizeOp, quantized.value, params.scale, params.zero_point, axis=axis, out_dtype=dtype)


def _erase_unused_forms(forms: Sequence[_Form | Refusal]) -> None:
    """Erases the ops of unused forms, in reverse order, so that users are erased first."""
    for form in reversed(forms):
        if isinstance(form, _Form) and not form.is_in:
            for op in reversed(form.ops):
                erase_op(op)


MAX_GOALS = 4
"""The maximum number of different roundings of an op, for different quantisations of its result."""


@dataclass(frozen=True)
class Refusal:
    """The reason why no integers can represent a value."""

    message: str
    is_boundary: bool = False
    """Whether the reason is a float input that is not quantised, rather than a missing rule."""


@dataclass
class Representable:
    """The result of the forward analysis."""

    found: dict[SSAValue, Refusal | bool] = field(default_factory=dict[SSAValue, Refusal | bool])
    """For each value that depends on a dequantisation: a refusal, or whether a later quantisation sets its scale."""

    def refusal(self, value: SSAValue) -> Refusal | None:
        """Returns the reason why integers cannot represent `value`; `None` if they can, or if it is not reached."""
        found = self.found.get(value)
        return found if isinstance(found, Refusal) else None

    def is_reached(self, value: SSAValue) -> bool:
        """Returns whether integers may represent `value`."""
        return isinstance(self.found.get(value), bool)

    def is_open(self, value: SSAValue) -> bool:
        """Returns whether a later quantisation determines the parameters of `value`."""
        return self.found.get(value) is True

    def form_of(self, value: SSAValue, params: QuantParameters | None) -> tuple[SSAValue, QuantParameters | None]:
        """Returns the key of the form of `value` that an op with these result parameters reads."""
        return value, params if self.is_open(value) else None


def find_representable(ops: Sequence[RelayOp], rules: Mapping[str, Rule]) -> Representable:
    """Returns which values integers can represent, by a forward analysis of `ops`, which are in program order."""
    known = Representable()
    for op in ops:
        if isinstance(op, DequantizeOp):
            if all(map(is_complete, op.operand_types)):
                finite = params_of(op).is_finite
                known.found[op.result] = False if finite else Refusal(f"{op.name} has a scale that is not finite")
        elif not isinstance(op, QuantizeOp) and any(operand in known.found for operand in op.operands):
            known.found[op.results[0]] = _analyse(op, rules.get(op.relay_name()), known)
    return known


def _analyse(op: RelayOp, rule: Rule | None, known: Representable) -> Refusal | bool:
    data = list(op.operands)[: rule.data_of(op) if rule is not None else None]
    for operand in data:
        refusal = known.refusal(operand)
        if refusal is not None:
            return refusal
    if rule is None:
        return Refusal(f"{op.name} has no integer form")
    others = [operand for operand in data if not known.is_reached(operand)]
    if len(others) == len(data):
        return Refusal(f"{op.name} has no quantised operand")
    for operand in () if rule.takes_any else others:
        if not rule.constants or float_constant(operand) is None:
            maker = operand.owner.name if isinstance(operand.owner, Operation) else "a parameter"
            return Refusal(f"{op.name} reads floats from {maker}", is_boundary=True)
    if rule.result in (Result.ROUNDED, Result.SHARED):
        return True
    return rule.result is Result.UNCHANGED and any(map(known.is_open, data))


def find_requested(
    ops: Sequence[RelayOp], rules: Mapping[str, Rule], known: Representable
) -> dict[SSAValue, dict[QuantParameters | None, None]]:
    """Returns the parameters that are requested of each value (`None` for its own), by a backward analysis."""
    requested: dict[SSAValue, dict[QuantParameters | None, None]] = {}

    def request(value: SSAValue, params: QuantParameters | None) -> None:
        key, wanted = known.form_of(value, params)
        own = requested.setdefault(key, {})
        if len(own) < MAX_GOALS:
            own.setdefault(wanted)

    for op in reversed(ops):
        if isinstance(op, QuantizeOp) and known.is_reached(op.operands[0]):
            request(op.operands[0], params_of(op))
        rule = rules.get(op.relay_name())
        if rule is None or not known.is_reached(op.results[0]):
            continue
        keeps = rule.result in (Result.UNCHANGED, Result.SHARED)
        for params in requested.get(op.results[0], {}):
            for operand in list(op.operands)[: rule.data_of(op)]:
                if known.is_reached(operand):
                    request(operand, params if keeps else None)
    return requested


def params_of(op: QuantizeOp | DequantizeOp) -> QuantParameters:
    """Returns the parameters that an op quantises to, or dequantises from."""
    data, scale, zero_point = op.operands
    rank = len(shape_of(data.type))
    integers = op.result if isinstance(op, QuantizeOp) else data
    element = integers.type.element_type if isinstance(integers.type, TensorType) else integers.type
    return QuantParameters(scale, zero_point, element, op.axis.value.data % rank if rank else 0)
