"""Parts of random programs over named dimensions that have bodies: branches, loops, closures, functions, lists."""

from __future__ import annotations

from support.random_dim_builder import Builder
from support.random_dim_closures import HandedOn, RecursiveClosure, Taker
from support.random_dim_functions import Called, Chosen, Closure, Family, Member, Recursion
from support.random_dim_lists import Filling, ListOps, Perhaps, Taken, Unpacked, tensor_of
from support.random_dim_loops import Carry, CarryingLoop, Loop
from support.random_dim_ops import random_op
from support.random_dim_parts import Body, Branches, Part, Steps, Value, flat, names_in, needed, statement

Made = tuple[Part, Value]
"""A part and its result."""


def random_part(build: Builder) -> Made | None:
    """Returns a random part, most often in free programs, or None; parts are nested at most two deep."""
    if build.depth > 1 or not build.choices.chance(60 if build.free and build.depth == 0 else 35):
        return None
    kinds = [_branches, _call, _loop, _closure, _recursion]
    kinds += [_carrying, _carrying, _family, _chosen, _list, _perhaps, _handed_on, _recursive_closure] * build.free
    kinds += [_list, _perhaps, _perhaps] * (build.sequence is not None)
    return build.choices.pick(kinds)(build)


def add_random(build: Builder, body: list[str | Part]) -> Value:
    """Adds a part or an op to `body`; returns its result, which later ops may use."""
    made = random_part(build)
    if made is None:
        lines: list[str] = []
        value = random_op(build, lines)
        body += lines
    else:
        part, value = made
        body.append(part)
    build.values.append(value)
    return value


def _made_inside(build: Builder, *more: Value, alone: bool = False) -> tuple[list[str | Part], list[Value]]:
    """Returns the statements of a body that may use `more`, and the values it computes, which are not visible outside.

    It has one or two steps. With `alone` no outer value is visible, and unless the program is free, all steps are ops.
    """
    kept, around, lists = list(build.values), build.depth, (build.sequence, build.optional)
    build.values = [*([] if alone else kept), *more]
    if alone:
        build.sequence = build.optional = None
    count = len(build.values)
    build.depth += 1 if build.free or not alone else 2
    body: list[str | Part] = []
    for _ in range(1 + build.choices.below(2)):
        add_random(build, body)
    made = build.values[count:]
    build.values, build.depth = kept, around
    build.sequence, build.optional = lists
    return body, made


def _inside(build: Builder, *more: Value, alone: bool = False) -> tuple[list[str | Part], Value]:
    """Returns the statements of a body that its last value needs, and that value."""
    body, made = _made_inside(build, *more, alone=alone)
    return needed(body, [made[-1].name]), made[-1]


def _has_windows(body: Body) -> bool:
    """Whether an op has windows, which require static extents."""
    return any("2d" in line for line in flat(body, None))


def _times(build: Builder) -> str:
    """A trip count of one to three; in a free program also 0 or the number of rows."""
    return build.choices.pick(["%two", "%one", "%three", "%some", *(["%which", "%rows", "%none"] * build.free)])


def _branches(build: Builder) -> Made | None:
    """An `if` of a branch with an op or two and a branch that yields an existing value of the same rank."""
    body, last = _inside(build)
    other = build.value(last.rank)
    if other is None:
        return None
    build.used.add(other.name)
    result = build.fresh()
    return Branches(result, (body, []), (last.name, other.name)), Value(result, last.rank)


def _call(build: Builder) -> Made | None:
    """A function of an op or two on existing values."""
    body, last = _inside(build, *build.values, alone=True)
    if _has_windows(body):
        return None
    names = {name for each in body for name in names_in(each)} | {last.name}
    result = build.fresh()
    operands = [value for value in build.values if value.name in names]
    if not operands:
        return None
    even = build.free and build.choices.chance(30)
    return Called(result, body, last.name, operands, even), Value(result, last.rank)


def _closure(build: Builder) -> Made | None:
    """A closure of one value, which it negates first."""
    operand = build.any_value()
    result = build.fresh()
    body, last = _inside(build, Value(Closure.parameter(result), operand.rank))
    build.used.add(operand.name)
    return Closure(result, body, last.name, operand), Value(result, last.rank)


def _loop(build: Builder) -> Made | None:
    """A loop that carries a value of constant extents."""
    initial = build.any_value()
    result = build.fresh()
    carried = Value(f"{result}_c", initial.rank)
    body, last = _inside(build, carried)
    build.used.add(initial.name)
    condition = build.choices.pick([None, None, "%cond" if build.free else "%true"])
    stacked = build.choices.chance(30)
    steps = Steps(carried, body, last.name)
    made = Loop(result, steps, initial.name, _times(build), condition, stacked)
    return made, Value(result, 1 if stacked else carried.rank)


def _recursion(build: Builder) -> Made | None:
    """A function that calls itself once."""
    initial = build.any_value()
    result = build.fresh()
    carried = Value(f"{result}_c", initial.rank)
    body, last = _inside(build, carried, alone=True)
    if _has_windows(body):
        return None
    build.used.add(initial.name)
    steps = Steps(carried, body, last.name)
    made = Recursion(result, steps, initial, _times(build), build.choices.chance(50))
    return made, Value(result, carried.rank)


def _next(build: Builder, body: list[str | Part], made: list[Value], carried: Value, *, varies: bool) -> str:
    """Returns the next value of `carried`, clipped to small numbers; with `varies` its extents may change."""
    lines: list[str] = []
    last = made[-1].name
    if varies:
        fitting = [value.name for value in made if value.rank == carried.rank]
        value = build.choices.pick(fitting[::-1]) if fitting and build.choices.chance(70) else None
        if value is None and carried.rank:
            both = build.op(lines, "tuple", carried.name, build.choices.pick([carried.name, *fitting]))
            axis = build.choices.below(carried.rank)
            value = build.op(lines, "concatenate", both, attributes=f"{{axis = {axis}}} ")
        sum = value or last
    else:
        total = build.op(lines, "clip", build.op(lines, "sum", last), attributes="{a_min = -3.0, a_max = 3.0} ")
        sum = build.op(lines, "add", carried.name, total)
    body += [*lines, statement(f"{carried.name}_n", "clip", sum, attributes="{a_min = -9.0, a_max = 9.0} ")]
    return f"{carried.name}_n"


def _carrying(build: Builder) -> Made | None:
    """A loop that carries one or two values, which may grow, or be swapped if their types are alike."""
    result = build.fresh()
    initials = [build.any_value() for _ in range(1 + build.choices.below(2))]
    varies = [initial.rank > 0 and build.choices.chance(60) for initial in initials]
    carried = [Value(f"{result}_c{number}", initial.rank) for number, initial in enumerate(initials)]
    body, made = _made_inside(build, *carried)
    made = [value for value in made if value not in carried] or carried
    following = [_next(build, body, made, value, varies=grows) for value, grows in zip(carried, varies, strict=True)]
    alike = len(initials) == 2 and ((initials[0] == initials[1] and varies[0] == varies[1]) or (all(varies)
                                    and initials[0].rank == initials[1].rank))  # fmt: skip
    if alike and build.choices.chance(60):
        # One of the swapped values may be passed on unchanged.
        following = [f"{carried[1].name}{'_a' * varies[0]}" if build.choices.chance(40) else following[1], following[0]]
    build.used |= {initial.name for initial in initials}
    carries = [Carry(*each) for each in zip(carried, [each.name for each in initials], following, varies, strict=True)]
    stacks = [carry.value for carry in carries if not carry.varies and build.choices.chance(30)]
    if build.choices.chance(25):
        # Only an iteration may determine the extents of these rows; those of a varying value are known at run time.
        stacks.append(build.choices.pick(made))
    goes_on = build.choices.pick([None, None, following[-1]])
    taken = build.choices.below(len(carries) + len(stacks))
    ranks = [*(value.rank for value in carried), *(value.rank + 1 for value in stacks)]
    names = [*following, *(value.name for value in stacks)]
    made = CarryingLoop(
        result, carries, needed(body, names), [value.name for value in stacks], _times(build), goes_on, taken
    )
    return made, Value(result, ranks[taken])


def _family(build: Builder) -> Made | None:
    """Functions that call each other, or a function that calls itself twice; their results may grow."""
    initial, result = build.any_value(), build.fresh()
    count, varies = 1 + build.choices.below(2), initial.rank > 0 and build.choices.chance(40)
    members: list[Member] = []
    for number in range(count):
        carried = Value(f"{result}_c{number}", initial.rank)
        body, made = _made_inside(build, carried, alone=True)
        following = _next(build, body, made, carried, varies=varies)
        members.append(Member(carried, needed(body, [following]), following))
    if any(_has_windows(member.body) for member in members):
        return None
    build.used.add(initial.name)
    join = build.choices.pick(["concatenate", "add"] if varies else ["add", "maximum"])
    twice = count == 1 or build.choices.chance(30)
    return Family(result, members, initial, _times(build), join, twice, varies), Value(result, initial.rank)


def _chosen(build: Builder) -> Made | None:
    """One of two closures, chosen at run time."""
    operand, result = build.any_value(), build.fresh()
    build.used.add(operand.name)
    if operand.rank and build.choices.chance(30):
        branches = [_growing(build, Value(f"{result}_c{number}", operand.rank)) for number in range(2)]
        return Chosen(result, branches, operand, None), Value(result, operand.rank)
    steps = _steps_of_closures(build, result, operand)
    times = _times(build) if build.choices.chance(40) else None
    return Chosen(result, steps, operand, times), Value(result, operand.rank)


def _handed_on(build: Builder) -> Made | None:
    """One of two closures, chosen at run time and passed to a recursive function."""
    operand, result = build.any_value(), build.fresh()
    build.used.add(operand.name)
    chosen = Chosen(f"{result}_k", _steps_of_closures(build, result, operand), operand, None, is_called=False)
    return HandedOn(result, chosen, operand, _times(build), build.choices.chance(40)), Value(result, operand.rank)


def _recursive_closure(build: Builder) -> Made | None:
    """A closure that calls itself."""
    operand, result = build.any_value(), build.fresh()
    build.used.add(operand.name)
    carried = Value(f"{result}_c", operand.rank)
    body, last = _inside(build, carried)
    steps = Steps(carried, body, last.name)
    made = RecursiveClosure(result, steps, operand, _times(build), build.choices.chance(50))
    return made, Value(result, operand.rank)


def _steps_of_closures(build: Builder, result: str, operand: Value) -> list[Steps]:
    """The bodies of two closures on values like `operand`."""
    found: list[Steps] = []
    for number in range(2):
        carried = Value(f"{result}_c{number}", operand.rank)
        body, last = _inside(build, carried)
        found.append(Steps(carried, body, last.name))
    return found


def _growing(build: Builder, carried: Value) -> Member:
    """The body of a closure whose result has other extents than its parameter."""
    body, made = _made_inside(build, carried)
    following = _next(build, body, made, carried, varies=True)
    return Member(carried, needed(body, [following]), following)


def add_function(build: Builder, body: list[str | Part]) -> Value:
    """Adds the choice of a closure to `body` without a call; the value has the rank of the closure's parameter."""
    operand, result = build.any_value(), build.fresh()
    body.append(Chosen(result, _steps_of_closures(build, result, operand), operand, None, is_called=False))
    return Value(result, operand.rank)


def add_taker(build: Builder, body: list[str | Part], function: Value) -> Value:
    """Adds a closure to `body` that takes a function like `function` and a value."""
    result = build.fresh()
    body.append(Taker(result, build.any_value(), function.rank))
    return Value(result, function.rank)


def add_list(build: Builder, body: list[str | Part]) -> Value:
    """Adds a sequence to `body`; the value has the rank of its elements."""
    ops: list[str | Part] = []
    current, held = _changed_list(build, ops)
    body.append(ListOps(current, ops))
    return Value(current, held)


def _list(build: Builder) -> Made | None:
    """A sequence of values of one rank, changed up to two times, that is read at one position or concatenated."""
    body: list[str | Part] = []
    current, held = _changed_list(build, body)
    lines: list[str] = []
    made = _read_list(build, lines, current, held)
    return ListOps(made.name, [*body, *lines]), made


def _changed_list(build: Builder, body: list[str | Part]) -> tuple[str, int]:
    """Makes a sequence, and changes it up to two times; returns its name and the rank of its elements."""
    held, current = _first_list(build, body, build.any_value())
    for _ in range(build.choices.below(3)):
        value = build.value(held)
        kind = build.choices.pick(["insert", "erase", "loop", "branch"])
        place = build.choices.pick(["%none", "%last", "%which", "%one"])
        name = build.fresh()
        if kind == "erase" or value is None:
            body.append(_placed(name, "sequence_erase", [current], place))
        elif kind == "insert":
            build.used.add(value.name)
            body.append(_placed(name, "sequence_insert", [current, value.name], place))
        else:
            build.used.add(value.name)
            times = _times(build) if kind == "loop" else None
            body.append(Filling(name, current, held, value.name, times))
        current = name
    return current, held


def _placed(name: str, op: str, operands: list[str], place: str) -> str:
    """An op on a sequence at a position."""
    types = ", ".join(["!relay.incomplete"] * len(operands))
    return f"{name} = relay.{op}({', '.join([*operands, place])}) : ({types}, tensor<i64>) -> !relay.incomplete"


def _first_list(build: Builder, body: list[str | Part], first: Value) -> tuple[int, str]:
    """Makes a sequence; returns the rank of its elements and its name."""
    given = build.sequence
    kind = build.choices.pick(["construct", "construct", "empty", "split", *(["given"] * 3 if given else [])])
    lines: list[str] = []
    rank = first.rank
    if kind == "given" and given is not None:
        name, rank = build.fresh(), given.rank
        value = build.value(rank)
        build.used |= set() if value is None else {value.name}
        body.append(Taken(name, given, None if value is None else value.name))
    elif kind == "split" and first.rank:
        keeps = build.choices.chance(50)
        attributes = f"{{axis = {build.choices.below(first.rank)}, keepdims = {str(keeps).lower()}}} "
        name = build.op(lines, "split_to_sequence", first.name, attributes=attributes)
        rank -= not keeps
    elif kind == "empty":
        name = build.fresh()
        lines.append(f"{name} = relay.sequence_empty() {{of = {tensor_of(rank)}}} : () -> !relay.incomplete")
    else:
        values = [first.name, *([(build.value(rank) or first).name] if build.choices.chance(60) else [])]
        name = build.op(lines, "sequence_construct", *values)
    body += lines
    return rank, name


def _read_list(build: Builder, lines: list[str], name: str, rank: int) -> Value:
    """Reads an element, the concatenation or the length of a sequence."""
    kind = build.choices.pick(["at", "at", "concat", "length"])
    if kind == "at":
        result = build.fresh()
        lines.append(_placed(result, "sequence_at", [name], build.choices.pick(["%none", "%last", "%which", "%one"])))
        return Value(result, rank)
    if kind == "length":
        length = build.op(lines, "sequence_length", name)
        return Value(build.op(lines, "cast", length, attributes="{dtype = f32} "), 0)
    new = rank == 0 or build.choices.chance(40)
    attributes = f"{{axis = {build.choices.below(rank + new)}, new_axis = {str(new).lower()}}} "
    return Value(build.op(lines, "concat_from_sequence", name, attributes=attributes), rank + new)


def _perhaps(build: Builder) -> Made | None:
    """The value of an optional that has one if a condition holds, or of an optional parameter of the program."""
    given = build.optional
    if given is not None and build.choices.chance(50):
        other, result = build.value(given.rank), build.fresh()
        if other is None:
            return None
        build.used.add(other.name)
        return Unpacked(result, given, other, build.choices.chance(70)), Value(result, given.rank)
    value = build.any_value()
    other = build.value(value.rank) or value
    build.used |= {value.name, other.name}
    result = build.fresh()
    return Perhaps(result, value, other, build.choices.chance(70)), Value(result, value.rank)
