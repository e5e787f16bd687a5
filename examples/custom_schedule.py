"""Defines a kernel by tensor expressions, schedules its loops, and compiles it."""

import numpy as np

import xrelay
from xrelay import te

N = 256
a, b = te.placeholder((N, N), name="a"), te.placeholder((N, N), name="b")
k = te.reduce_axis((0, N), name="k")
c = te.compute((N, N), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")

schedule = te.create_schedule(c.op)
rows, columns = c.op.axis
row_tile, column_tile, row, column = schedule[c].tile(rows, columns, 4, 32)
schedule[c].reorder(row_tile, column_tile, k, row, column)
schedule[c].unroll(row)
schedule[c].vectorize(column)
schedule[c].parallel(row_tile)

print(xrelay.lower(schedule, [a, b, c]))
product = xrelay.build(schedule, [a, b, c])
rng = np.random.default_rng(0)
x, y = (rng.normal(size=(N, N)).astype(np.float32) for _ in range(2))
result = np.empty((N, N), np.float32)
product(x, y, result)
np.testing.assert_allclose(result, x @ y, atol=1e-3)
