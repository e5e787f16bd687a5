"""topi → loop: kernels on tensors become loop nests on buffers, and get their schedules."""
