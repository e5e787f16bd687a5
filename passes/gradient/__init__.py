"""Reverse-mode automatic differentiation: functions that return their result and the gradient of each parameter."""
