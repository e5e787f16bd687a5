// RUN: not xrelay-opt %s -p 'loop-assign-schedules{target="gpu"}' 2>&1 | filecheck %s --check-prefix KIND
// RUN: not xrelay-opt %s -p 'loop-assign-schedules{target="cpu -mcpu=znver9"}' 2>&1 | filecheck %s --check-prefix CPU

// KIND: target 'gpu' is of kind 'gpu'
// CPU: no CPU is called 'znver9'; help: did you mean 'znver5'?
func.func private @k() {
  func.return
}
