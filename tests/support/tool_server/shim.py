"""The client of the server: a lit test's `xrelay-opt`, `filecheck`, … while a server runs.

It lives for every command of every lit test, so it starts under `python -I -S` and imports built-in modules alone: `os`
and `socket` would more than double its 15 ms.
"""

import _socket
import marshal
import posix
import sys
from posix import _exit as exit_now  # pyright: ignore[reportPrivateUsage] (public as os._exit)

# Type checkers take a variable of this name for true. `typing` imports twenty modules, as long as all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Never

HEADER = 8
REFUSED = b"refused"


def run(address: str, program: str) -> "Never":
    """End as `program` ends when it is run with this process's arguments, files, folder and environment.

    The server's child does the work and its exit code or signal becomes this process's. This process becomes the real
    program where there is no server, or where the server refuses because its own environment is a different one.
    """
    try:
        connection = _send(address, program)
        answer = connection.recv(HEADER)
    except KeyboardInterrupt:
        exit_now(130)
    except OSError:
        answer = REFUSED
    if answer == REFUSED:
        posix.execv(program, [program, *sys.argv[1:]])
    if not answer:
        sys.stderr.write(f"error: the tool server ended while it ran {program}\n")
        exit_now(1)
    code = int(answer)
    if code < 0:
        _die_of(-code)
    exit_now(code)


def _send(address: str, program: str) -> _socket.socket:
    """Hand over everything a process gets from its parent: the open files go as such, the rest as bytes."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(address)
    text = message(program, sys.argv[1:], posix.getcwd(), posix.environ)
    files = b"".join(file.to_bytes(4, sys.byteorder) for file in (0, 1, 2))
    connection.sendmsg([text[:HEADER]], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
    connection.sendall(text[HEADER:])
    return connection


def message(
    program: str, arguments: "list[str]", folder: str, environment: "dict[bytes, bytes]", *, wants_pid: bool = False
) -> bytes:
    """What the server gets beside open files; with `wants_pid` its first answer is the child's number, in 8 bytes."""
    body = marshal.dumps((program, arguments, folder, environment, wants_pid))
    return len(body).to_bytes(HEADER, "little") + body


def _die_of(number: int) -> None:
    """Die of the signal that the child died of; one that does not kill leaves a shell's code for it."""
    import signal

    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    posix.kill(posix.getpid(), number)
    exit_now(128 + number)
