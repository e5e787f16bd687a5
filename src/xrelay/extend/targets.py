"""CPUs that xrelay does not know, and the layouts that a target prefers.

register_cpu("znver6", Cpu(features=…, vector_bits=512, vector_registers=32))

@alters_layout("nn.conv2d", target="cpu")
def hook(op, available, lanes): …
"""

from xrelay.passes.layout.layout_hooks import alters_layout, layout_hook_scope
from xrelay.target.cpus import Cpu, register_cpu
from xrelay.target.target import Target

__all__ = ["Cpu", "Target", "alters_layout", "layout_hook_scope", "register_cpu"]
