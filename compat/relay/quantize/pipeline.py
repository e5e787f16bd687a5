"""`quantize`: converts a float program to an integer program, in Relay's steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.errors import InputError, with_article
from xrelay.passes.catalogue.relay_names import relay_pass
from xrelay.passes.graph.remarks import report
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.qnn.quantization_points import Choice, is_float_tensor
from xrelay.passes.qnn.quantize_annotate import greatest_distance, points_of
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.binding import bind_params_by_name
from xrelay.relay.expr import Expr
from xrelay.relay.module import IRModule
from xrelay.relay.pass_api.named_passes import Sequential, create_pass, pass_maker
from xrelay.relay.pass_api.passes import Pass
from xrelay.relay.quantize.calibrate import ANY_BOUNDS, calibrate_module
from xrelay.relay.quantize.config import DISABLED, FULLY_INTEGRAL, GLOBAL_SCALE, QConfig, current_qconfig
from xrelay.relay.quantize.partition_conversions import partition_conversions

_PREREQUISITES: Final = ("SimplifyInference", "FoldConstant", "FoldScaleAxis", "CanonicalizeOps", "FoldConstant")
_CLEANING: Final = ("FoldConstant", "EliminateCommonSubexpr", "DeadCodeElimination")
_NO_LAYER: Final = -1


def quantize(mod: ModuleOp | Expr, params: Mapping[str, object] | None = None, dataset: object = None) -> IRModule:
    """Returns the program with convolutions and matrix products on 8-bit integers, configured by `current_qconfig()`.

    `mod`, a module or a function, is not changed; `params` become constants by parameter name. `dataset` is an iterable
    of dictionaries from input names to arrays; it is iterated once, and not used in the mode `global_scale`. Inputs and
    results stay floats. Ops that cannot be quantised stay in floats. A program without quantisable ops is returned
    unchanged, with its parameters bound. The entered `xrelay.transform.PassContext` selects the passes before
    quantisation, as in Relay: at `opt_level=3` all run.

    Raises `InputError` for a missing, empty or invalid dataset. Raises the errors of binding, type inference and
    compilation.
    """
    config = current_qconfig()
    module = _bound(mod, params)
    simple = prerequisite_optimize(module)
    choice = _choice(config, sum(isinstance(op, Conv2DOp) for op in walk_ops(simple)))
    possible = points_of(simple, choice, lambda value: ANY_BOUNDS if is_float_tensor(value) else None)
    if not possible.all:
        report(possible.remarks.all)
        return _partitioned(module, config)
    if config.calibrate_mode != GLOBAL_SCALE:
        simple = IRModule.of(calibrate_module(simple, choice, config, dataset))
    annotated = _annotate(choice, config)(simple)
    if config.do_simulation:
        return IRModule.of(annotated)
    for each in (_realize(config), *map(create_pass, _CLEANING)):
        annotated = each(annotated)
    return _partitioned(IRModule.of(annotated), config)


def _partitioned(module: IRModule, config: QConfig) -> IRModule:
    if config.partition_conversions == DISABLED:
        return module
    return partition_conversions(module, fully_integral=config.partition_conversions == FULLY_INTEGRAL)


def prerequisite_optimize(mod: ModuleOp | Expr, params: Mapping[str, object] | None = None) -> IRModule:
    """Runs the passes before quantisation: folds batch norms into factors, factors into weights, and constants.

    The entered `PassContext` selects the passes.
    """
    return IRModule.of(Sequential(list(_PREREQUISITES))(_bound(mod, params)))


def annotate() -> Pass:
    """Returns the pass that rounds the operands of products with the `global_scale` of `current_qconfig()`.

    Convolutions are counted in the module that the pass runs on. Unlike in `quantize`, negative numbers among
    `skip_conv_layers` do not count from the last one.
    """
    config = current_qconfig()
    return _annotate(_choice(config, 0), config)


def realize() -> Pass:
    """Returns the pass that computes the rounded values of `annotate` on integers."""
    return _realize(current_qconfig())


def partition() -> Pass:
    """Returns an empty pass. Relay's first step marks the borders of integers, which `annotate` finds itself."""
    return Sequential([], opt_level=1, name="QuantizePartition")


def _annotate(choice: Choice, config: QConfig) -> Pass:
    row = relay_pass("QuantizeAnnotate")
    assert row is not None, "the table has it"
    return pass_maker(row)(
        nbit_input=config.nbit_input,
        nbit_weight=config.nbit_weight,
        dtype_input=config.dtype_input,
        dtype_weight=config.dtype_weight,
        global_scale=float(config.global_scale) if config.calibrate_mode == GLOBAL_SCALE else 0.0,
        weight_scale=config.weight_scale,
        per_channel=choice.per_channel,
        skip_dense_layer=choice.skip_dense_layer,
        skip_conv_layers=tuple(sorted(choice.skip_conv_layers)) or (_NO_LAYER,),
        enabled_ops=tuple(sorted(choice.enabled_ops or ())),
    )


def _realize(config: QConfig) -> Pass:
    return create_pass(f"QuantizeRealize{{rounding={config.rounding}}}")


def _bound(mod: object, params: Mapping[str, object] | None) -> IRModule:
    """Returns a typed copy of the program with its parameters as constants."""
    if isinstance(mod, Expr):
        module = IRModule.from_expr(mod)
    elif isinstance(mod, ModuleOp):
        module = IRModule.of(mod)
    else:
        raise InputError(f"{with_article(type(mod).__name__)} is not a program", help="pass a module or a function")
    if params:
        module["main"] = bind_params_by_name(module["main"], params)
    infer_types(module)
    return module


def _choice(config: QConfig, count: int) -> Choice:
    """Returns the choice of layers of the configuration; negative numbers of convolutions are counted from `count`."""
    layers = frozenset(number + count if number < 0 else number for number in config.skip_conv_layers or ())
    enabled = None if config.debug_enabled_ops is None else frozenset(config.debug_enabled_ops)
    distance = greatest_distance(config.dtype_input)
    return Choice(config.per_channel, config.skip_dense_layer, layers, enabled, distance)
