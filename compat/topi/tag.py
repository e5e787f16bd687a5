"""Tags that describe a compute to schedules: `te.compute(…, tag=tag.INJECTIVE)`."""

ELEMWISE = "elemwise"
BROADCAST = "broadcast"
INJECTIVE = "injective"
COMM_REDUCE = "comm_reduce"
