# Runs a command and succeeds if its exit code is the expected one: exit_code.sh CODE COMMAND…
expected=$1; shift
"$@"
found=$?
[ "$found" -eq "$expected" ] || { echo "exit code $found, expected $expected" >&2; exit 1; }
