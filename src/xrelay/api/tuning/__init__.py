"""Tuning: schedules of kernels are measured in a process of their own, and the fastest are recorded."""
