"""The client of the server: runs in place of `xrelay-opt`, `filecheck`, … in lit tests while a server runs.

It starts for every command of every lit test, so it runs under `python -I -S` and imports only built-in modules: `os`
and `socket` would more than double its 15 ms.
"""

import _socket
import marshal
import posix
import sys
from posix import _exit as exit_now  # pyright: ignore[reportPrivateUsage] (public as os._exit)

# Type checkers assume that a variable of this name is true. `typing` imports twenty modules, as long as all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Never

HEADER = 8
REFUSED = b"refused"


def run(address: str, program: str) -> "Never":
    """Ends as `program` ends when it runs with this process's arguments, files, folder and environment.

    The server's child does the work, and its exit code or signal becomes this process's. Without a server, or if the
    server refuses because its environment differs, this process becomes the real program.
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
    """Sends all state that a process inherits from its parent: the open files as such, the rest as bytes."""
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
    """The request without the open files; with `wants_pid` the server first sends the child's pid, in 8 bytes."""
    body = marshal.dumps((program, arguments, folder, environment, wants_pid))
    return len(body).to_bytes(HEADER, "little") + body


def _die_of(number: int) -> None:
    """Kills this process by the signal that killed the child; exits with 128 + `number` if it survives."""
    import signal

    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    posix.kill(posix.getpid(), number)
    exit_now(128 + number)
