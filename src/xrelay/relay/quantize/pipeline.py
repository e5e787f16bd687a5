"""`quantize`: a float program becomes one of integers, in the steps that Relay's users know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.ops.nn_conv import Conv2DOp
from xrelay.errors import InputError, with_article
from xrelay.passes.catalogue.relay_names import relay_pass
from xrelay.passes.graph.remarks import report
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.qnn.quantization_bounds import Bounds
from xrelay.passes.qnn.quantization_points import Choice, QuantizationPoints, is_float_tensor
from xrelay.passes.qnn.quantize_annotate import greatest_distance, points_of
from xrelay.passes.relay_api.named_passes import pass_maker
from xrelay.passes.relay_api.passes import Pass
from xrelay.passes.relay_api.sequential import Sequential
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.binding import bind_params_by_name
from xrelay.relay.expr import Expr
from xrelay.relay.module import IRModule
from xrelay.relay.quantize.calibrate import calibrated
from xrelay.relay.quantize.config import DISABLED, FULLY_INTEGRAL, GLOBAL_SCALE, QConfig, current_qconfig
from xrelay.relay.quantize.partition_conversions import partition_conversions

_PREREQUISITES: Final = ("SimplifyInference", "FoldConstant", "FoldScaleAxis", "CanonicalizeOps", "FoldConstant")
_NO_LAYER: Final = -1


def quantize(mod: ModuleOp | Expr, params: Mapping[str, object] | None = None, dataset: object = None) -> IRModule:
    """The program with its convolutions and matrix products on integers of 8 bits, as `current_qconfig()` says.

    `mod`, a module or a function, stays as it is; `params` become constants by name of parameter. `dataset` is an
    iterable of dictionaries from names of inputs to arrays; it is gone through once, and not at all in the mode
    `global_scale`. Inputs and results stay floats. What cannot be quantised stays in floats, and a program without
    anything that can comes back as it was, with its parameters bound. `xrelay.transform.PassContext` says which of the
    passes in front run, as in Relay: at `opt_level=3` all do.

    Raises `InputError` for a dataset that is missing, empty or does not fit, and what binding, typing and compiling
    raise.
    """
    config = current_qconfig()
    module = _bound(mod, params)
    simple = prerequisite_optimize(module)
    choice = _choice(simple, config)
    possible = _possible_points(simple, choice)
    if not possible.all:
        report(possible.remarks.all)
        return _partitioned(module, config)
    if config.calibrate_mode != GLOBAL_SCALE:
        simple = IRModule.of(calibrated(simple, choice, config, dataset))
    annotated = _annotate(choice, config)(simple)
    if config.do_simulation:
        return IRModule.of(annotated)
    for each in (_realize(config), *_cleaning()):
        annotated = each(annotated)
    return _partitioned(IRModule.of(annotated), config)


def _partitioned(module: IRModule, config: QConfig) -> IRModule:
    if config.partition_conversions == DISABLED:
        return module
    return partition_conversions(module, fully_integral=config.partition_conversions == FULLY_INTEGRAL)


def prerequisite_optimize(mod: ModuleOp | Expr, params: Mapping[str, object] | None = None) -> IRModule:
    """What runs before quantisation: batch norms become factors, factors go into weights, constants are evaluated.

    The passes run as the entered `PassContext` says.
    """
    return IRModule.of(Sequential(list(_PREREQUISITES))(_bound(mod, params)))


def annotate() -> Pass:
    """The pass that rounds what products read, as `current_qconfig()` says, by its `global_scale`.

    Convolutions are counted in the module that the pass is given; negative numbers among `skip_conv_layers` count from
    the last one in `quantize` alone.
    """
    config = current_qconfig()
    layers = frozenset(config.skip_conv_layers or ())
    return _annotate(_choice_of(config, layers), config)


def realize() -> Pass:
    """The pass that computes on integers what `annotate` rounds."""
    return _realize(current_qconfig())


def partition() -> Pass:
    """Relay's first step, which marks where integers end: `annotate` finds that itself, so there is nothing to run."""
    return Sequential([], opt_level=1, name="QuantizePartition")


def _annotate(choice: Choice, config: QConfig) -> Pass:
    return _pass(
        "QuantizeAnnotate",
        nbit_input=config.nbit_input,
        nbit_weight=config.nbit_weight,
        dtype_input=config.dtype_input,
        dtype_weight=config.dtype_weight,
        global_scale=config.global_scale if config.calibrate_mode == GLOBAL_SCALE else 0.0,
        weight_scale=config.weight_scale,
        per_channel=choice.per_channel,
        skip_dense_layer=choice.skip_dense_layer,
        skip_conv_layers=tuple(sorted(choice.skip_conv_layers)) or (_NO_LAYER,),
        enabled_ops=tuple(sorted(choice.enabled_ops or ())),
    )


def _realize(config: QConfig) -> Pass:
    return _pass("QuantizeRealize", rounding=config.rounding)


def _cleaning() -> tuple[Pass, ...]:
    return _pass("FoldConstant"), _pass("EliminateCommonSubexpr"), _pass("DeadCodeElimination")


def _pass(name: str, **options: object) -> Pass:
    """The pass that Relay calls so."""
    row = relay_pass(name)
    assert row is not None, f"the table has {name}"
    return pass_maker(row)(**options)


def _bound(mod: object, params: Mapping[str, object] | None) -> IRModule:
    """A typed copy of the program with its parameters as constants."""
    if isinstance(mod, Expr):
        module = IRModule.from_expr(mod)
    elif isinstance(mod, ModuleOp):
        module = IRModule.of(mod)
    else:
        raise InputError(f"{with_article(type(mod).__name__)} is no program", help="give a module or a function")
    if params:
        module["main"] = bind_params_by_name(module["main"], params)
    infer_types(module)
    return module


def _choice(module: ModuleOp, config: QConfig) -> Choice:
    """What the configuration leaves out, negative numbers of convolutions counted from the last one."""
    count = sum(isinstance(op, Conv2DOp) for op in walk_ops(module))
    layers = config.skip_conv_layers or ()
    return _choice_of(config, frozenset(number + count if number < 0 else number for number in layers))


def _choice_of(config: QConfig, layers: frozenset[int]) -> Choice:
    enabled = config.debug_enabled_ops
    return Choice(
        config.per_channel,
        config.skip_dense_layer,
        layers,
        None if enabled is None else frozenset(enabled),
        greatest_distance(config.dtype_input),
    )


def _possible_points(module: ModuleOp, choice: Choice) -> QuantizationPoints:
    """What would be rounded, were all bounds known."""
    anything = Bounds(-1.0, 1.0)
    return points_of(module, choice, lambda value: anything if is_float_tensor(value) else None)
