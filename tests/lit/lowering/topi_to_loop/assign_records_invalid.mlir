// RUN: not xrelay-opt %s -p loop-assign-records 2>&1 | filecheck %s --check-prefix NONE
// RUN: not xrelay-opt %s -p 'loop-assign-records{file="%t.absent"}' 2>&1 | filecheck %s --check-prefix ABSENT
// RUN: echo '[]' > %t.jsonl
// RUN: not xrelay-opt %s -p 'loop-assign-records{file="%t.jsonl"}' 2>&1 | filecheck %s --check-prefix DAMAGED

// NONE: loop-assign-records needs a file of tuning records; help: write loop-assign-records{file="…"}
// ABSENT: {{.*}}.absent: error: cannot read the tuning records: No such file or directory
// DAMAGED: {{.*}}.jsonl:1: error: the tuning record is not a JSON object; help: remove the line
func.func private @k() {
  func.return
}
