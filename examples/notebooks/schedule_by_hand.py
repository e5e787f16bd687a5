"""A schedule by hand: tiles, vectors and unrolled loops of a matrix product, with the time of each choice."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="A schedule by hand")


@app.cell
def _():
    import time

    import marimo as mo
    import numpy as np

    import xrelay
    from xrelay import te

    return mo, np, te, time, xrelay


@app.cell
def _(mo):
    mo.md("""
    # A schedule by hand

    The product of two matrices is defined once. A schedule arranges its loops: it changes the time, never the result.
    """)


@app.cell
def _(mo):
    rows = mo.ui.slider(steps=[1, 2, 4, 8, 16], value=8, label="rows of a tile")
    columns = mo.ui.slider(steps=[8, 16, 32, 64], value=32, label="columns of a tile")
    vectorized = mo.ui.checkbox(value=True, label="columns as lanes of vectors")
    unrolled = mo.ui.checkbox(value=True, label="unroll the rows")
    mo.vstack([rows, columns, vectorized, unrolled])
    return columns, rows, unrolled, vectorized


@app.cell
def _(columns, rows, te, unrolled, vectorized):
    size = 256
    a, b = te.placeholder((size, size), name="a"), te.placeholder((size, size), name="b")
    k = te.reduce_axis((0, size), name="k")
    c = te.compute((size, size), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")

    schedule = te.create_schedule(c.op)
    row_tile, column_tile, row, column = schedule[c].tile(*c.op.axis, rows.value, columns.value)
    schedule[c].reorder(row_tile, column_tile, k, row, column)
    if unrolled.value:
        schedule[c].unroll(row)
    if vectorized.value:
        schedule[c].vectorize(column)
    return a, b, c, schedule, size


@app.cell
def _(a, b, c, np, schedule, size, time, xrelay):
    product = xrelay.build(schedule, [a, b, c])
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(size, size)).astype(np.float32) for _ in range(2))
    result = np.empty((size, size), np.float32)
    seconds = []
    for _ in range(10):
        start = time.perf_counter()
        product(x, y, result)
        seconds.append(time.perf_counter() - start)
    np.testing.assert_allclose(result, x @ y, atol=1e-3)
    return (seconds,)


@app.cell
def _(mo, seconds, size):
    mo.md(f"""
    **{min(seconds) * 1e3:.2f} ms**, {2 * size**3 / min(seconds) / 1e9:.0f} GFLOP/s
    """)


@app.cell
def _(a, b, c, mo, schedule, xrelay):
    mo.plain_text(str(xrelay.lower(schedule, [a, b, c])))


if __name__ == "__main__":
    app.run()
