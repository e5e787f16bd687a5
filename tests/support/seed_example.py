"""The example program of Relay's pass documentation."""

from __future__ import annotations

import re

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay


def example() -> relay.Function:
    """conv2d(x, weight) + (c + c) * 2, to which c is added twice."""
    c = relay.const(np.arange(64 * 54 * 54, dtype=np.float32).reshape(1, 64, 54, 54) / 1e5, name="c")
    weight = relay.var("weight", shape=(64, 64, 3, 3))
    x = relay.var("x", shape=(1, 64, 56, 56))
    conv = relay.nn.conv2d(x, weight)
    y = relay.add(c, c)
    y = relay.multiply(y, relay.const(2, "float32"))
    y = relay.add(conv, y)
    z = relay.add(y, c)
    z1 = relay.add(y, c)
    return relay.Function([x, weight], relay.add(z, z1))


def module() -> ModuleOp:
    """A module with the example as @main."""
    return relay.Module.from_expr(example())


def body(mod: ModuleOp) -> str:
    """The lines of @main without types, keys of weights and attributes of groups."""
    lines = [line.strip() for line in str(mod).splitlines()[2:-2]]
    short = [re.sub(r" : \(.*| : tensor<[^{]*$", "", line) for line in lines if line != "}"]
    short = [re.sub(r'#relay.weight<"([^"]*)", "[0-9a-f]*">', r"\1", line) for line in short]
    short = [re.sub(r" : tensor<[^>]*>(?=[,)])| -> tensor<.*", "", line) for line in short]
    return "\n".join(line for line in short if line)
