// RUN: not xrelay-opt %s -p 'loop-assign-schedules{target="gpu"}' 2>&1 | filecheck %s --check-prefix KIND
// RUN: not xrelay-opt %s -p 'loop-assign-schedules{target="cpu -mcpu=znver9"}' 2>&1 | filecheck %s --check-prefix CPU
// RUN: not xrelay-opt %s -p 'loop-assign-schedules{families=theirs}' 2>&1 | filecheck %s --check-prefix FAMILIES

// KIND: target 'gpu' is of kind 'gpu'
// CPU: {{.*}} 'znver9'; help: did you mean 'znver5'?
// FAMILIES: option 'families' must be typing.Literal['all', 'registered', 'own'], found 'theirs'
func.func private @k() {
  func.return
}
