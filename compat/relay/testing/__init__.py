"""Networks and helpers for tests and tutorials of Relay programs, as in `relay.testing`.

    mod, params = relay.testing.resnet.get_workload(num_layers=18, batch_size=1)
    lib = relay.build(mod, "llvm", params=params)

Shapes, names and order of parameters are those of Relay.
"""

from xrelay.relay.testing import (
    dcgan,
    densenet,
    dqn,
    inception_v3,
    init,
    layers,
    lstm,
    mlp,
    mobilenet,
    resnet,
    squeezenet,
    synthetic,
    temp_op_attr,
    vgg,
)
from xrelay.relay.testing.checks import check_grad, count_ops, rand, run_infer_type, run_opt_pass
from xrelay.relay.testing.init import create_workload
from xrelay.relay.transform import gradient

__all__ = [
    "check_grad",
    "count_ops",
    "create_workload",
    "dcgan",
    "densenet",
    "dqn",
    "gradient",
    "inception_v3",
    "init",
    "layers",
    "lstm",
    "mlp",
    "mobilenet",
    "rand",
    "resnet",
    "run_infer_type",
    "run_opt_pass",
    "squeezenet",
    "synthetic",
    "temp_op_attr",
    "vgg",
]
