"""A first model: build it, compile it, run it, and read it at every level."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="A first model")


@app.cell
def _():
    import pathlib
    import tempfile

    import marimo as mo
    import numpy as np

    import xrelay
    from xrelay import relay

    return mo, np, pathlib, relay, tempfile, xrelay


@app.cell
def _(mo):
    mo.md("""
    # A first model

    A network is a graph of operators. Types that are left out are inferred: the weights below have no shapes.
    `xrelay.compile` also reads ONNX files.
    """)


@app.cell
def _(np, relay):
    data = relay.var("data", shape=(1, 3, 32, 32))
    conv = relay.nn.conv2d(data, relay.var("filters"), channels=16, kernel_size=(3, 3), padding=(1, 1))
    pooled = relay.nn.batch_flatten(relay.nn.global_avg_pool2d(relay.nn.relu(conv)))
    scores = relay.nn.softmax(relay.nn.dense(pooled, relay.var("classes"), units=10))
    module = relay.Module.from_expr(relay.Function(relay.analysis.free_vars(scores), scores))
    rng = np.random.default_rng(0)
    inputs = {
        "data": rng.random((1, 3, 32, 32), np.float32),
        "filters": rng.normal(0, 0.3, (16, 3, 3, 3)).astype(np.float32),
        "classes": rng.normal(0, 0.3, (10, 16)).astype(np.float32),
    }
    return inputs, module


@app.cell
def _(module, pathlib, tempfile, xrelay):
    with tempfile.TemporaryDirectory() as folder:
        model = xrelay.compile(module, dump_stages=folder)
        stages = {path.stem: path.read_text() for path in sorted(pathlib.Path(folder).glob("*.mlir"))}
    return model, stages


@app.cell
def _(inputs, mo, model, module, xrelay):
    (result,) = model.run(inputs)
    answer = xrelay.same(module, model, inputs=inputs)
    assert answer, str(answer)
    mo.md(f"""
    The most probable class is {result.argmax()}. Native code and the interpreter agree: {answer}.
    """)


@app.cell
def _(mo, stages):
    stage = mo.ui.dropdown(list(stages), value="04_fused", label="stage")
    mo.vstack([stage])
    return (stage,)


@app.cell
def _(mo, stage, stages):
    mo.plain_text(stages[stage.value])


if __name__ == "__main__":
    app.run()
