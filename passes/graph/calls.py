"""The calls of functions in a module, its functions with callees first, and the symbols that ops refer to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.passes.infra.digraph import post_order
from xrelay.passes.infra.verify import walk_ops


def functions_of(module: ModuleOp) -> dict[str, FuncOp]:
    """Returns the functions of `module` by name."""
    return {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}


def calls_in(function: FuncOp, names: Mapping[str, object]) -> Counter[str]:
    """Returns the number of calls in `function` of each function in `names`."""
    found = (callee_name(op) for op in walk_ops(function) if is_call(op))
    return Counter(name for name in found if name in names)


def callees_first(callees: Mapping[str, Iterable[str]]) -> list[str]:
    """Returns the names with callees before their callers. In a cycle, the name that is reached first is last."""
    return post_order(callees, lambda name: list(callees.get(name, ()))[::-1])


def mentioned_symbols(op: Operation) -> Iterator[str]:
    """Yields the symbols that `op` and the ops in it refer to."""
    # A small attribute that shares parts can print as millions of parts, so each object is visited once.
    seen: dict[int, Attribute] = {}
    for inner in walk_ops(op):
        pending: list[Attribute] = [*inner.properties.values(), *inner.attributes.values()]
        while pending:
            attribute = pending.pop()
            # Exact types: `isinstance` of an abstract class is slow, and most attributes have other types.
            if type(attribute) is SymbolRefAttr:
                yield attribute.root_reference.data
            elif (type(attribute) is ArrayAttr or type(attribute) is DictionaryAttr) and id(attribute) not in seen:
                seen[id(attribute)] = attribute
                pending.extend(attribute.data if isinstance(attribute, ArrayAttr) else attribute.data.values())
