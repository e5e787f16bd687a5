// RUN: xrelay-opt %s -p 'relay-split-wide-ops{most-parts=2}' | filecheck %s
// RUN: xrelay-opt %s -p relay-split-wide-ops | filecheck %s --check-prefix NONE
// RUN: not xrelay-opt %s -p 'relay-split-wide-ops{most-parts=1}' 2>&1 | filecheck %s --check-prefix ONE

// NONE-NOT: stop_fusion
// ONE: error: relay-split-wide-ops: most-parts is 1, it must be 2 or more

// CHECK-LABEL: @concatenate(
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%a, %b)
// CHECK-NEXT:    %[[J:.*]] = relay.concatenate(%[[T]])
// CHECK-NEXT:    %[[W:.*]] = relay.annotation.stop_fusion(%[[J]]) : (tensor<3x2xf32>)
// CHECK-NEXT:    %[[U:.*]] = relay.tuple(%[[W]], %c)
// CHECK-NEXT:    %[[Y:.*]] = relay.concatenate(%[[U]]) : {{.*}} -> tensor<6x2xf32>
// CHECK-NEXT:    func.return %[[Y]]
func.func @concatenate(%a: tensor<1x2xf32>, %b: tensor<2x2xf32>, %c: tensor<3x2xf32>) -> tensor<6x2xf32> {
  %t = relay.tuple(%a, %b, %c) : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>) -> tuple<tensor<1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>>
  %y = relay.concatenate(%t) : (tuple<tensor<1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>>) -> tensor<6x2xf32>
  func.return %y : tensor<6x2xf32>
}

// CHECK-LABEL: @split(
// CHECK-NEXT:    %[[T:.*]] = relay.split(%x) {indices_or_sections = [3]}
// CHECK-NEXT:    %[[A:.*]] = relay.tuple_get_item(%[[T]]) {index = 0}
// CHECK-NEXT:    %[[B:.*]] = relay.tuple_get_item(%[[T]]) {index = 1}
// CHECK-NEXT:    %[[V:.*]] = relay.annotation.stop_fusion(%[[A]])
// CHECK-NEXT:    %[[Z:.*]] = relay.annotation.stop_fusion(%[[B]])
// CHECK-NEXT:    %[[U:.*]] = relay.split(%[[V]]) {indices_or_sections = [1]}
// CHECK-NEXT:    %[[Y:.*]] = relay.tuple_get_item(%[[U]]) {index = 0}
// CHECK-NEXT:    relay.tuple_get_item(%[[U]]) {index = 1}
// CHECK-NEXT:    func.return %[[Y]], %[[Z]]
func.func @split(%x: tensor<6x2xf32>) -> (tensor<1x2xf32>, tensor<3x2xf32>) {
  %t = relay.split(%x) {indices_or_sections = [1, 3]} : (tensor<6x2xf32>) -> tuple<tensor<1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>>
  %a = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>>) -> tensor<1x2xf32>
  %c = relay.tuple_get_item(%t) {index = 2} : (tuple<tensor<1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>>) -> tensor<3x2xf32>
  func.return %a, %c : tensor<1x2xf32>, tensor<3x2xf32>
}

// The split positions are multiples of n.
// CHECK-LABEL: @named(
// CHECK-NEXT:    %t = relay.split(%x) {indices_or_sections = 3}
// CHECK-NEXT:    func.return %t
func.func @named(%x: tensor<?xf32, #relay.dims<n * 3>>) -> tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>> {
  %t = relay.split(%x) {indices_or_sections = 3} : (tensor<?xf32, #relay.dims<n * 3>>) -> tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>>
  func.return %t : tuple<tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>>
}

// CHECK-LABEL: @parameter(
// CHECK-NEXT:    relay.concatenate(%t)
func.func @parameter(%t: tuple<tensor<1xf32>, tensor<1xf32>, tensor<1xf32>>) -> tensor<3xf32> {
  %y = relay.concatenate(%t) : (tuple<tensor<1xf32>, tensor<1xf32>, tensor<1xf32>>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
