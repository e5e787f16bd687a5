"""Passes on calls, closures and recursion: functions become code that kernels can be made of."""
