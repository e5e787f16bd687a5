"""`xrelay explore`: one page with the graph of a model, its levels side by side, and the compiler's decisions.

`recording.py` follows a compilation, `linked_text.py` and `native_text.py` connect lines of text to nodes of the model,
`fused_graph.py` and `arena_plan.py` extract what the page draws, `page.py` writes the page, and `server.py` serves it.
"""
