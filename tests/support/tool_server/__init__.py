"""A fork server for tests: imports the tools once, then runs each command of a test in a fork of itself.

`xrelay-opt` spends most of a short run on the imports of xDSL and numpy, and the lit tests run it hundreds of times.
`start` (launch.py) returns a folder of shims (shim.py), one per program, to prepend to a test's PATH. A shim sends its
arguments, folder, environment and open files to the server (server.py) through a Unix socket. The server forks a child,
which takes them over and runs the program's real script as `__main__` (process.py).

A test sees the same behaviour as with the script alone, with five exceptions: modules that the tools import lazily are
already imported, caches of dialects and passes are already filled (warm.py), all runs share one hash seed, the umask is
the server's, and the traceback of an exception that a script does not catch begins with the server's frames. `lit
--param tools=scripts tests/lit` runs the scripts themselves. lit itself connects to the server without a shim
(direct.py). It runs filecheck, `xrelay-opt` and `xrelay` in its own process (inner.py), where a run also finds the
caches that earlier runs have filled. Python tests that run many commands use `served` (served.py).
"""
