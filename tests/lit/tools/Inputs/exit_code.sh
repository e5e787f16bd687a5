# Runs a command and succeeds when its exit code is the one expected: exit_code.sh CODE COMMAND…
expected=$1; shift
"$@"
found=$?
[ "$found" -eq "$expected" ] || { echo "exit code $found, expected $expected" >&2; exit 1; }
