"""Profile and tune: the time of each kernel, and schedules by measurement."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Profile and tune")


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
def _(np, relay):
    rng = np.random.default_rng(0)
    x = relay.var("x", shape=(16, 256))
    hidden = relay.nn.relu(relay.nn.dense(x, rng.normal(0, 0.1, (512, 256)).astype(np.float32)))
    scores = relay.nn.softmax(relay.nn.dense(hidden, rng.normal(0, 0.1, (10, 512)).astype(np.float32)))
    module = relay.Module.from_expr(relay.Function([x], scores))
    data = rng.normal(size=(16, 256)).astype(np.float32)
    return data, module


@app.cell
def _(mo):
    mo.md("""
    # Profile and tune

    A profile has the time of each kernel, its share of the run, and its distance from the roofline of this machine.
    """)


@app.cell
def _(data, mo, module, xrelay):
    model = xrelay.compile(module, threads=1)
    profile = model.profile([data])
    mo.as_html(profile)
    return model, profile


@app.cell
def _(mo, profile):
    slowest = max(profile.kernels, key=lambda kernel: kernel.seconds)
    mo.md(f"""
    The slowest kernel is `{slowest.name}`, with the schedule "{slowest.schedule}". It was chosen by a model of the
    CPU. `tune` compiles and runs the cheapest candidates instead, and keeps a record of the fastest:
    """)


@app.cell
def _(data, model, module, np, pathlib, tempfile, xrelay):
    with tempfile.TemporaryDirectory() as folder:
        records = pathlib.Path(folder) / "records.jsonl"
        summary = xrelay.tune(module, records, threads=1, candidates=2)
        tuned = xrelay.compile(module, threads=1, records=records)
    np.testing.assert_allclose(tuned.run([data])[0], model.run([data])[0], atol=1e-5)
    return (summary,)


@app.cell
def _(mo, summary):
    rows = [
        {"kernel": number, "candidate": measured.candidate, "microseconds": measured.nanoseconds / 1000}
        for number, kernel in enumerate(summary.kernels)
        for measured in kernel.record.measured
    ]
    mo.ui.table(rows)


if __name__ == "__main__":
    app.run()
