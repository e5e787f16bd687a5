"""`transform.ChangeBatch`: a program for another number of examples.

mod = transform.ChangeBatch({mod["main"].params[0]: 0}, batch_size=8)(mod)
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp, TensorType

from xrelay.dialects.relay.core.types import element_type_of, shape_of, tensor_type
from xrelay.errors import PassError
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.relay_api.named_passes import create_pass
from xrelay.passes.relay_api.passes import ModulePass
from xrelay.relay.binding import bind
from xrelay.relay.expr import Var
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule

NAME = "ChangeBatch"


class ChangeBatch(ModulePass):
    """Gives parameters of `@main` the extent `batch_size` along an axis, and infers all types anew.

    `data` says the axis by parameter: a variable, of which the name counts as `mod["main"]` is a copy, or the name.
    `PassError` for one that `@main` does not have, one without the axis, and a size below 1. Where an operator says the
    old extent itself, as `reshape` may, no types fit: `TypeInferenceError`.
    """

    def __init__(self, data: Mapping[Var | str, int], batch_size: int = 16):
        super().__init__(PassInfo(0, NAME))
        self._axes = {key.name if isinstance(key, Var) else key: axis for key, axis in data.items()}
        if batch_size < 1:
            raise PassError(f"{NAME}: a batch of {batch_size} has no examples", help="give a size from 1")
        self._size = batch_size

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Put another `@main` into the module."""
        infer = create_pass("InferType")
        module = IRModule.of(infer(mod))
        main = module["main"]
        self._require_known(main)
        params = [self._changed(param) if param.name in self._axes else param for param in main.params]
        module["main"] = main.with_parts(params, bind(main.body, dict(zip(main.params, params, strict=True))))
        return infer(module)

    def _require_known(self, main: Function) -> None:
        names = [param.name for param in main.params]
        for name in self._axes:
            if name not in names:
                raise PassError(f"{NAME}: @main has no parameter {name!r}", help=f"it has {', '.join(names) or 'none'}")

    def _changed(self, param: Var) -> Var:
        """A variable with another extent; `PassError` where it has no such axis."""
        type, axis = param.checked_type.plain, self._axes[param.name]
        rank = len(shape_of(type)) if isinstance(type, TensorType) else 0
        if not -rank <= axis < rank:
            raise PassError(f"{NAME}: {param.name!r} is {type}, which has no axis {axis}")
        shape = list(shape_of(type))
        shape[axis] = self._size
        return Var(param.name_hint, tensor_type(shape, element_type_of(type)))
