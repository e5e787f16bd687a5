// RUN: XRELAY_ROUNDTRIP | filecheck %s

func.func private @body(index)

// CHECK-LABEL: func.func @f
// CHECK: func.constant @body : (index) -> ()
func.func @f() {
  %0 = func.constant @body : (index) -> ()
  func.return
}
