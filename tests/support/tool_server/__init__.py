"""A fork server for tests: imports the tools once, then runs each command of a test in a fork of itself.

`xrelay-opt` spends most of a short run on the imports of xDSL and numpy, and the lit tests run it hundreds of times.
`start` (launch.py) gives a folder of shims (shim.py), one per program, for the front of a test's PATH. A shim sends its
arguments, folder, environment and open files to the server (server.py) through a Unix socket; the child that the server
forks for it takes them over and runs the program's real script as `__main__` (process.py).

What a test sees is what the script alone does, but for five things: modules that the tools load when they need them
are loaded already, what is remembered of dialects and passes is so before a text test runs them (warm.py), all runs
share one hash seed, the umask is the server's, and the traceback of an exception that a script lets out begins with the
server's frames. `lit --param tools=scripts tests/lit` runs the scripts themselves.
lit itself asks the server without a shim in between (direct.py).
Python tests that run many commands take `served` (served.py).
"""
