"""Reverse-mode automatic differentiation: functions that give their result and the gradient of each parameter.

`rule_table` says how an operator hands the gradient of its result on to its operands, and `rules/` has the rules of our
operators, a file for each family. `differentiate` applies them to a function.
"""
