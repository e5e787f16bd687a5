"""Lowers a schedule of tensor expressions to a kernel at the loop level with a `loop.schedule`.

Computes become `topi.compute`s, in which affine index arithmetic is affine expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, func, math
from xdsl.dialects.builtin import AnyFloat, IndexType, ModuleOp, StringAttr, TensorType, UnitAttr, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import topi
from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import PRIMITIVE, SCHEDULE, VALUE_NAME
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.topi.build import Body, compute, is_unsigned, value_range
from xrelay.errors import InputError, one_line
from xrelay.lowering.topi_to_loop.convert_topi_to_loop import ConvertTopiToLoopPass
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.source import full_context
from xrelay.passes.loop.signature import set_argument_attrs
from xrelay.passes.topi.inline_injective import inline_computes
from xrelay.te.bind import bind_steps, stage_loops
from xrelay.te.expr import (
    FUNCTIONS,
    Binary,
    Cast,
    Choice,
    Const,
    IterVar,
    PrimExpr,
    Reduce,
    Unary,
    is_float,
)
from xrelay.te.schedule import Schedule
from xrelay.te.tensor import ComputeOp, PlaceholderOp, Tensor, TensorRead

MAIN = "main"
"""The name of the function that calls the kernel."""

_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq"}


def emit_compute(op: ComputeOp, label: str, tensors: Mapping[Tensor, SSAValue]) -> topi.ComputeOp:
    """Returns a detached `topi.compute` for `op`; `tensors` maps the tensors it reads to values."""
    axes = [*op.axis, *op.reduce_axis]
    names = _distinct([axis.name for axis in axes])
    spatial = {name: axis.extent for name, axis in zip(names, op.axis, strict=False)}
    reduce = {name: axis.extent for name, axis in zip(names[len(spatial) :], op.reduce_axis, strict=True)}
    element = element_type(op.body.dtype)

    def fill(b: Body) -> list[SSAValue]:
        index = dict(zip(axes, (*b.spatial, *b.reduction), strict=True))
        emitter = _Emitter(b, index, tensors, {})
        return [_fold(emitter, op.body) if isinstance(op.body, Reduce) else emitter.value(op.body)]

    init = [_first(op.body.kind, element)] if isinstance(op.body, Reduce) else []
    return compute(label, spatial, [element], fill, reduce=reduce, init=init)


def _first(kind: str, element: Attribute) -> float | int:
    least, most = value_range(element)
    return {"sum": 0, "max": least, "min": most}[kind]


def _fold(emitter: _Emitter, reduction: Reduce) -> SSAValue:
    """Returns the next accumulator; the factors of a product are passed apart, so that multiply-adds may be fused."""
    b, x = emitter.body, reduction.x
    (accumulator,) = b.accumulators
    if reduction.kind == "max":
        return b.largest(accumulator, emitter.value(x))
    if reduction.kind == "min":
        return b.smallest(accumulator, emitter.value(x))
    if isinstance(x, Binary) and x.operator == "*" and is_float(x.dtype):
        return b.accumulate_product(accumulator, emitter.value(x.a), emitter.value(x.b))
    return b.accumulate(accumulator, emitter.value(x))


class _Emitter:
    """Appends the ops of expressions to a body, each expression once."""

    def __init__(
        self,
        body: Body,
        axes: Mapping[IterVar, AffineExpr],
        tensors: Mapping[Tensor, SSAValue],
        known: Mapping[PrimExpr, SSAValue],
    ):
        self.body, self._axes, self._tensors = body, axes, tensors
        self._values = dict(known)
        self._affine: dict[PrimExpr, AffineExpr | None] = {}

    def value(self, root: PrimExpr) -> SSAValue:
        """Returns the value of an expression. Iterative except for the branches of choices."""
        order = self._post_order(root)
        needed = {root}
        for expr in reversed(order):
            if expr in needed and expr not in self._values:
                needed.update(self._needs(expr))
        for expr in order:
            if expr in needed and expr not in self._values:
                self._values[expr] = self._emit(expr)
        return self._values[root]

    def _post_order(self, root: PrimExpr) -> list[PrimExpr]:
        """Returns the subexpressions of `root`, operands first, without the branches of choices."""
        order: dict[PrimExpr, None] = {}
        stack: list[tuple[PrimExpr, bool]] = [(root, False)]
        while stack:
            expr, ready = stack.pop()
            if expr in order:
                continue
            if ready:
                order[expr] = None
                self._affine[expr] = self._affine_of(expr)
                continue
            stack.append((expr, True))
            inner = (expr.condition,) if isinstance(expr, Choice) else expr.operands
            stack.extend((operand, False) for operand in reversed(inner))
        return list(order)

    def _needs(self, expr: PrimExpr) -> list[PrimExpr]:
        """Returns the operands whose values are needed to compute `expr`."""
        if self._affine[expr] is not None or self._sides(expr) is not None:
            return []
        if isinstance(expr, Choice):
            return [expr.condition]
        if isinstance(expr, TensorRead):
            return [index for index in expr.indices if self._affine[index] is None]
        return list(expr.operands)

    def _affine_of(self, expr: PrimExpr) -> AffineExpr | None:
        """Returns `expr` as an affine expression of the axes; `None` if it is not affine."""
        if isinstance(expr, IterVar):
            return self._axes[expr]
        if isinstance(expr, Const):
            return AffineConstantExpr(int(expr.value)) if expr.dtype.startswith("int") else None
        if not isinstance(expr, Binary):
            return None
        a, b = self._affine.get(expr.a), self._affine.get(expr.b)
        if a is None or b is None:
            return None
        number = b.value if isinstance(b, AffineConstantExpr) else None
        match expr.operator:
            case "+":
                return a + b
            case "-":
                return a + (b * -1)
            case "*" if number is not None:
                return a * number
            case "*" if isinstance(a, AffineConstantExpr):
                return b * a.value
            case "//" if number is not None and number > 0:
                return a // number
            case "%" if number is not None and number > 0:
                return a % number
            case _:
                return None

    def _sides(self, expr: PrimExpr) -> tuple[AffineExpr, AffineExpr] | None:
        """Returns the sides of a comparison of affine expressions; `None` for any other expression."""
        if not isinstance(expr, Binary) or expr.operator not in _COMPARISONS:
            return None
        left, right = self._affine.get(expr.a), self._affine.get(expr.b)
        return None if left is None or right is None else (left, right)

    def _emit(self, expr: PrimExpr) -> SSAValue:
        b, affine = self.body, self._affine[expr]
        match expr:
            case Const():
                return b.constant(expr.value, element_type(expr.dtype))
            case _ if affine is not None:
                return b.add(arith.IndexCastOp(b.index(affine), i32))
            case TensorRead():
                return b.read(self._tensors[expr.tensor], *(self._index(index) for index in expr.indices))
            case Cast():
                return b.convert(self._values[expr.x], element_type(expr.dtype))
            case Unary():
                return b.add(FUNCTIONS[expr.function](self._values[expr.x]))
            case Binary() if (sides := self._sides(expr)) is not None:
                # compares indices, so that a vector of lanes has a mask
                return _compare(b, _COMPARISONS[expr.operator], b.index(sides[0]), b.index(sides[1]))
            case Binary():
                return _binary(b, expr.operator, self._values[expr.a], self._values[expr.b])
            case Choice():
                return self._choice(expr)
            case _:
                raise InputError(f"{expr!r} is a reduction inside an expression", help="reduce in a separate compute")

    def _index(self, expr: PrimExpr) -> AffineExpr:
        affine = self._affine[expr]
        if affine is not None:
            return affine
        return self.body.as_index(self.body.add(arith.IndexCastOp(self._values[expr], IndexType())))

    def _choice(self, expr: Choice) -> SSAValue:
        """Emits a guard whose branches compute the values that only they need."""

        def branch(root: PrimExpr) -> SSAValue:
            return _Emitter(self.body, self._axes, self._tensors, self._values).value(root)

        condition, element = self._values[expr.condition], element_type(expr.dtype)
        return self.body.guard(condition, element, lambda: branch(expr.then), lambda: branch(expr.otherwise))


def _binary(b: Body, operator: str, x: SSAValue, y: SSAValue) -> SSAValue:
    if operator in _COMPARISONS:
        return _compare(b, _COMPARISONS[operator], x, y)
    match operator:
        case "+":
            return b.plus(x, y)
        case "-":
            return b.minus(x, y)
        case "*":
            return b.times(x, y)
        case "/":
            return b.divide(x, y)
        case "max":
            return b.maximum(x, y)
        case "min":
            return b.minimum(x, y)
        case "pow":
            return b.add(math.PowFOp(x, y))
        case "and":
            return b.add(arith.AndIOp(x, y))
        case "or":
            return b.add(arith.OrIOp(x, y))
        case _:
            return _floor_division(b, operator, x, y)


def _compare(b: Body, relation: str, x: SSAValue, y: SSAValue) -> SSAValue:
    if isinstance(x.type, AnyFloat):
        return b.add(arith.CmpfOp(x, y, f"o{relation}"))
    if relation == "eq":
        return b.add(arith.CmpiOp(x, y, "eq"))
    return b.add(arith.CmpiOp(x, y, f"{'u' if is_unsigned(x.type) else 's'}{relation}"))


def _floor_division(b: Body, operator: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """Returns `//` or `%` of integers, rounded to minus infinity: one less if signs differ with a nonzero remainder."""
    quotient = b.divide(x, y)
    rest = b.minus(x, b.times(quotient, y))
    if is_unsigned(x.type):
        return quotient if operator == "//" else rest
    zero, one = b.constant(0, x.type), b.constant(1, x.type)
    differs = b.add(arith.CmpiOp(b.add(arith.XOrIOp(rest, y)), zero, "slt"))
    below = b.add(arith.AndIOp(differs, b.add(arith.CmpiOp(rest, zero, "ne"))))
    if operator == "//":
        return b.minus(quotient, b.add(arith.SelectOp(below, one, zero)))
    return b.plus(rest, b.add(arith.SelectOp(below, y, zero)))


def _distinct(names: Sequence[str]) -> list[str]:
    """Returns `names`, with a number appended to repeated ones."""
    taken: set[str] = set()
    return [fresh_name(name, taken) for name in names]


def lower(schedule: Schedule, args: Sequence[Tensor], name: str = "kernel", simple_mode: bool = False) -> ModuleOp:
    """Returns a module whose @main calls one kernel: loop nests, and the `loop.schedule` to apply to them.

    `args` are the placeholders and the outputs, in any order. Raises `InputError` if one is missing or an argument is
    neither, and `ScheduleError` for an illegal step. `simple_mode` has no effect.
    """
    _check_name(name)
    inputs, outputs = _split_args(schedule, args)
    labels = _labels(schedule)
    kernel, computes = _kernel(schedule, inputs, outputs, labels, name)
    inlined = [computes[stage.op] for stage in schedule.stages if stage.is_inlined and stage.op in computes]
    inline_computes(kernel.body.block, inlined)
    module = ModuleOp([kernel, _main(kernel)])
    ConvertTopiToLoopPass().apply(full_context(), module)
    _name_arguments(module, [*inputs, *outputs])
    loops = stage_loops(kernel, schedule, labels)
    kernel.attributes[SCHEDULE] = ScheduleAttr(bind_steps(kernel.clone(), schedule, loops, labels))
    return module


def _split_args(schedule: Schedule, args: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Returns the placeholders and the outputs, in the order of `args`."""
    for arg in args:
        _check_tensor(arg)
    inputs = [arg for arg in args if isinstance(arg.op, PlaceholderOp)]
    outputs = [arg for arg in args if not isinstance(arg.op, PlaceholderOp)]
    needed = [stage.op for stage in schedule.stages if isinstance(stage.op, PlaceholderOp)]
    missing = [op.name for op in [*needed, *schedule.outputs] if op not in [arg.op for arg in args]]
    if missing:
        raise InputError(f"the arguments lack {', '.join(missing)}", help="pass all placeholders and outputs")
    strange = [arg.name for arg in outputs if arg.op not in schedule.outputs]
    if strange:
        raise InputError(f"{strange[0]} is not an output of the schedule", help="create the schedule of all outputs")
    return inputs, outputs


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name or name == MAIN:
        raise InputError(
            f"a kernel cannot be called {name!r}", help=f"@{MAIN} is the entry that calls it; pass another name"
        )


def _check_tensor(arg: object) -> None:
    if not isinstance(arg, Tensor):
        raise InputError(f"{arg!r} is not a tensor", help="pass the placeholders and outputs: [A, B, C]")


def _labels(schedule: Schedule) -> dict[object, str]:
    """Returns a unique name for the compute of each op."""
    ops = [stage.op for stage in schedule.stages if isinstance(stage.op, ComputeOp)]
    return dict(zip(ops, _distinct([op.name for op in ops]), strict=True))


def _kernel(
    schedule: Schedule, inputs: Sequence[Tensor], outputs: Sequence[Tensor], labels: dict[object, str], name: str
) -> tuple[func.FuncOp, dict[object, topi.ComputeOp]]:
    """Returns the kernel as a function on tensors, with its computes."""
    block = Block(arg_types=[_type(tensor) for tensor in inputs])
    values: dict[Tensor, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for tensor, argument in zip(inputs, block.args, strict=True):
        argument.name_hint = tensor.name if SSAValue.is_valid_name(tensor.name) else None
    computes: dict[object, topi.ComputeOp] = {}
    for stage in schedule.stages:
        op = stage.op
        if isinstance(op, ComputeOp):
            computes[op] = emit_compute(op, labels[op], values)
            block.add_op(computes[op])
            _verify(computes[op], op.name)
            values[op.tensor] = computes[op].results[0]
    results = [values[tensor] for tensor in outputs]
    block.add_op(func.ReturnOp(*results))
    types = ([_type(tensor) for tensor in inputs], [_type(tensor) for tensor in outputs])
    kernel = func.FuncOp(name, types, Region(block), visibility="private")
    kernel.attributes[PRIMITIVE] = UnitAttr()
    return kernel, computes


def _verify(compute: topi.ComputeOp, name: str) -> None:
    """Raises `InputError` for a compute that reads outside of a tensor."""
    try:
        compute.verify()
    except VerifyException as error:
        text = one_line(str(error)).partition("; ")[0]
        hint = "guard the access: te.if_then_else(i < n, A[i], 0)"
        raise InputError(f"compute {name!r}: {text}", help=hint) from error


def _main(kernel: func.FuncOp) -> func.FuncOp:
    """Returns @main, which calls the kernel."""
    types = kernel.function_type
    block = Block(arg_types=types.inputs.data)
    call = func.CallOp(kernel.sym_name.data, list(block.args), list(types.outputs.data))
    block.add_ops([call, func.ReturnOp(*call.results)])
    return func.FuncOp(MAIN, types, Region(block))


def _name_arguments(module: ModuleOp, tensors: Sequence[Tensor]) -> None:
    """Names the arguments of all functions after the tensors."""
    names = _distinct([tensor.name for tensor in tensors])
    for function in module.ops:
        if isinstance(function, func.FuncOp):
            set_argument_attrs(function, [{VALUE_NAME: StringAttr(name)} for name in names])
            for name, argument in zip(names, function.args, strict=True):
                argument.name_hint = name if SSAValue.is_valid_name(name) else None


def _type(tensor: Tensor) -> TensorType[Attribute]:
    return TensorType(element_type(tensor.dtype), tensor.shape)
