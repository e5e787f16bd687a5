"""Fusion explained: which operators share a kernel, and how a limit or a mark changes it."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Fusion explained")


@app.cell
def _():
    import re

    import marimo as mo

    import xrelay
    from xrelay import relay, transform

    return mo, re, relay, transform, xrelay


@app.cell
def _(mo):
    mo.md("""
    # Fusion explained

    A kernel reads its operands once and writes its result once. A convolution, the elementwise operators after it and
    their sum become one kernel, because all paths from the convolution to the sum are elementwise. A reduction on one
    of the paths ends the kernel.
    """)


@app.cell
def _(mo):
    second = mo.ui.dropdown(["tanh", "reduction"], value="tanh", label="second branch")
    depth = mo.ui.slider(1, 8, value=8, label="most operators in a kernel")
    marked = mo.ui.checkbox(value=False, label="stop fusion after the convolution")
    mo.vstack([second, depth, marked])
    return depth, marked, second


@app.cell
def _(marked, relay, second):
    data, filters = relay.var("data", shape=(1, 16, 28, 28)), relay.var("filters", shape=(16, 16, 3, 3))
    conv = relay.nn.conv2d(data, filters, channels=16, kernel_size=(3, 3), padding=(1, 1))
    if marked.value:
        conv = relay.annotation.stop_fusion(conv)
    branch = relay.tanh(conv) if second.value == "tanh" else relay.mean(conv, axis=1, keepdims=True)
    total = relay.add(relay.sigmoid(conv), branch)
    module = relay.Module.from_expr(relay.Function([data, filters], total))
    return (module,)


@app.cell
def _(depth, mo, module, re, transform):
    fuse = transform.Sequential([transform.InferType(), transform.FuseOps()])
    with transform.PassContext(opt_level=3, config={"relay.FuseOps.max_depth": depth.value}):
        fused = str(fuse(module))
    kernels = re.findall(r"relay\.fused @(\w+)", fused)
    mo.md("\n".join(["Kernels:", "", *(f"- `{name}`" for name in kernels)]))
    return fused, kernels


@app.cell
def _(fused, mo):
    mo.plain_text(fused)


@app.cell
def _(depth, kernels, marked, second):
    # With the values above, all four operators share a kernel.
    if (second.value, depth.value, marked.value) == ("tanh", 8, False):
        assert kernels == ["fused_nn_conv2d_sigmoid_tanh_add"]


@app.cell
def _(mo):
    mo.md("""
    `xrelay explain fusion model.onnx --op NAME` prints the post-dominator of an operator, the rule that applied, and
    the node that blocked it. `docs/fusion.md` describes the algorithm.
    """)


if __name__ == "__main__":
    app.run()
