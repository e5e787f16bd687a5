"""Compiles a program, and compares the program at each stage of the compiler with the first one."""

import tempfile
from pathlib import Path

import numpy as np

import xrelay

module = xrelay.parse("""
func.func @main(%x: tensor<8x64xf32>, %w: tensor<16x64xf32>) -> tensor<8x16xf32> {
  %y = relay.nn.dense(%x, %w) {units = 16} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
  %z = relay.nn.softmax(%y) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  func.return %z : tensor<8x16xf32>
}
""")
rng = np.random.default_rng(0)
inputs = [rng.normal(size=shape).astype(np.float32) for shape in ((8, 64), (16, 64))]

with tempfile.TemporaryDirectory() as folder:
    model = xrelay.compile(module, dump_stages=folder)
    for path in sorted(Path(folder).glob("*.mlir")):
        is_interpreted = path.stem[3:] not in ("scf", "llvm")  # the other levels have no interpreter
        answer = xrelay.same(module, path if is_interpreted else xrelay.compile(path), inputs=inputs)
        assert answer, str(answer)
        print(f"{path.stem}: {answer}")
(native,) = model.run(inputs)
(interpreted,) = xrelay.interpret(module, inputs)
print("native code:", np.abs(native - interpreted).max())
