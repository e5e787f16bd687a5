"""`transform.ChangeBatch`: changes the batch size of a program.

mod = transform.ChangeBatch({mod["main"].params[0]: 0}, batch_size=8)(mod)
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp, TensorType

from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.errors import PassError
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.relay.binding import bind
from xrelay.relay.expr import Var
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.pass_api.named_passes import create_pass
from xrelay.relay.pass_api.passes import ModulePass

NAME = "ChangeBatch"


class ChangeBatch(ModulePass):
    """Sets the extent of parameters of `@main` along an axis to `batch_size`, and infers all types again.

    `data` maps parameters to axes. Parameters are names or variables; a variable counts by its name, because
    `mod["main"]` is a copy. Raises `PassError` for a parameter that `@main` does not have, an axis out of range, and a
    size below 1. Raises `TypeInferenceError` if an attribute holds the old extent, such as the shape of a `reshape`.
    """

    def __init__(self, data: Mapping[Var | str, int], batch_size: int = 16):
        super().__init__(PassInfo(0, NAME))
        self._axes = {key.name if isinstance(key, Var) else key: axis for key, axis in data.items()}
        if batch_size < 1:
            raise PassError(f"{NAME}: a batch of {batch_size} has no examples", help="pass a positive size")
        self._size = batch_size

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Replaces `@main` of the module."""
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
        """Returns a variable with the new extent. Raises `PassError` if the axis is out of range."""
        type, axis = param.checked_type.plain, self._axes[param.name]
        rank = len(shape_of(type)) if isinstance(type, TensorType) else 0
        if not -rank <= axis < rank:
            raise PassError(f"{NAME}: {param.name!r} is {type}, which has no axis {axis}")
        shape = list(shape_of(type))
        shape[axis] = self._size
        return Var(param.name_hint, tensor_type(shape, element_type_of(type)))
