"""Reverse-mode automatic differentiation: functions that return their result and the gradient of each parameter.

`rule_table` defines how rules propagate the gradient of an operator's result to its operands. `rules/` has the rules of
xrelay's operators, a file for each family. `differentiate` applies them to a function.
"""
