"""Lowering from topi to loop: kernels on tensors become loop nests on buffers, with schedules."""
