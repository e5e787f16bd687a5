// RUN: xrelay-opt %s -p relay-partition-graph | filecheck %s

// A tuple among several results is output as its fields; the tuple is rebuilt after the call.
// CHECK-LABEL: func.func @fields(%a
// CHECK-NEXT:    %[[F:.*]], %[[G:.*]], %[[H:.*]] = func.call @tvmgen_default_c_fields_0(%a)
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[F]], %[[G]])
// CHECK-NEXT:    %[[C:.*]] = relay.concatenate(%[[T]])
// CHECK-NEXT:    func.return %[[C]], %[[H]]
// CHECK:       func.func private @tvmgen_default_c_fields_0(%{{.*}}: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    %[[S:.*]] = relay.split
// CHECK-NEXT:    relay.tuple_get_item(%[[S]]) {index = 0}
// CHECK-NEXT:    %[[E:.*]] = relay.exp
// CHECK-NEXT:    %[[P:.*]] = relay.tuple_get_item(%[[S]]) {index = 0}
// CHECK-NEXT:    %[[Q:.*]] = relay.tuple_get_item(%[[S]]) {index = 1}
// CHECK-NEXT:    func.return %[[P]], %[[Q]], %[[E]]
func.func @fields(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = relay.annotation.compiler_begin(%a) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.split(%0) {indices_or_sections = 2} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %2 = relay.tuple_get_item(%1) {index = 0} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %3 = relay.exp(%2) : (tensor<2xf32>) -> tensor<2xf32>
  %4 = relay.annotation.compiler_end(%1) {compiler = "c"} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %5 = relay.annotation.compiler_end(%3) {compiler = "c"} : (tensor<2xf32>) -> tensor<2xf32>
  %6 = relay.concatenate(%4) : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<4xf32>
  func.return %6, %5 : tensor<4xf32>, tensor<2xf32>
}
