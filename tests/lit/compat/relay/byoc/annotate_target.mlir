// RUN: xrelay-opt %s -p 'relay-annotate-target{targets=test ops="test:equal","test:nn.relu","test:add","test:concatenate"}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-annotate-target{targets=test include-non-call-ops=false ops="test:nn.relu","test:concatenate"}' | filecheck %s --check-prefix=CALLS
// RUN: xrelay-opt %s -p 'relay-annotate-target{targets=test ops="test:nn.relu"},relay-annotate-target{targets=other,test ops="other:add","test:add"}' | filecheck %s --check-prefix=TWICE

// Each use of a result has its own end; ops without a target are for "default".
// CHECK-LABEL: @every_use(
// CHECK-NEXT:    %[[B:.*]] = relay.annotation.compiler_begin(%x) {compiler = "test"}
// CHECK-NEXT:    %r = relay.nn.relu(%[[B]])
// CHECK-NEXT:    %[[E:.*]] = relay.annotation.compiler_end(%r) {compiler = "test"}
// CHECK-NEXT:    %[[F:.*]] = relay.annotation.compiler_end(%r) {compiler = "test"}
// CHECK-NEXT:    %[[C:.*]] = relay.annotation.compiler_begin(%[[E]]) {compiler = "default"}
// CHECK-NEXT:    %a = relay.abs(%[[C]])
// CHECK-NEXT:    %[[G:.*]] = relay.annotation.compiler_end(%a) {compiler = "default"}
// CHECK-NEXT:    %[[H:.*]] = relay.annotation.compiler_begin(%[[F]]) {compiler = "test"}
// CHECK-NEXT:    %[[I:.*]] = relay.annotation.compiler_begin(%[[G]]) {compiler = "test"}
// CHECK-NEXT:    %s = relay.add(%[[H]], %[[I]])
// CHECK-NEXT:    %[[J:.*]] = relay.annotation.compiler_end(%s) {compiler = "test"}
// CHECK-NEXT:    func.return %[[J]]

// A second run annotates ops of "default" and leaves the rest.
// TWICE-LABEL: @every_use(
// TWICE-NEXT:    relay.annotation.compiler_begin(%x) {compiler = "test"}
// TWICE-NEXT:    relay.nn.relu
// TWICE-NEXT:    relay.annotation.compiler_end(%r) {compiler = "test"}
// TWICE-NEXT:    relay.annotation.compiler_end(%r) {compiler = "test"}
// TWICE-NEXT:    relay.annotation.compiler_begin({{.*}}) {compiler = "default"}
// TWICE-NEXT:    relay.abs
// TWICE-NEXT:    relay.annotation.compiler_end(%a) {compiler = "default"}
// TWICE-NEXT:    %[[H:.*]] = relay.annotation.compiler_begin({{.*}}) {compiler = "other"}
// TWICE-NEXT:    %[[I:.*]] = relay.annotation.compiler_begin({{.*}}) {compiler = "other"}
// TWICE-NEXT:    %s = relay.add(%[[H]], %[[I]])
// TWICE-NEXT:    %[[J:.*]] = relay.annotation.compiler_end(%s) {compiler = "other"}
// TWICE-NEXT:    func.return %[[J]]
func.func @every_use(%x: tensor<10xf32>) -> tensor<10xf32> {
  %r = relay.nn.relu(%x) : (tensor<10xf32>) -> tensor<10xf32>
  %a = relay.abs(%r) : (tensor<10xf32>) -> tensor<10xf32>
  %s = relay.add(%r, %a) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  func.return %s : tensor<10xf32>
}

// A tuple joins the region of its fields if they share one, or stays between the regions.
// CHECK-LABEL: @tuple(
// CHECK:         %[[E:.*]] = relay.annotation.compiler_end(%a) {compiler = "test"}
// CHECK:         %[[F:.*]] = relay.annotation.compiler_end(%b) {compiler = "test"}
// CHECK-NEXT:    %[[C:.*]] = relay.annotation.compiler_begin(%[[E]]) {compiler = "test"}
// CHECK-NEXT:    %[[D:.*]] = relay.annotation.compiler_begin(%[[F]]) {compiler = "test"}
// CHECK-NEXT:    %t = relay.tuple(%[[C]], %[[D]])
// CHECK-NEXT:    %[[G:.*]] = relay.annotation.compiler_end(%t) {compiler = "test"}
// CHECK-NEXT:    %[[H:.*]] = relay.annotation.compiler_begin(%[[G]]) {compiler = "test"}
// CHECK-NEXT:    relay.concatenate(%[[H]])
// CALLS-LABEL: @tuple(
// CALLS:         %[[E:.*]] = relay.annotation.compiler_end(%a) {compiler = "test"}
// CALLS:         %[[F:.*]] = relay.annotation.compiler_end(%b) {compiler = "test"}
// CALLS-NEXT:    %t = relay.tuple(%[[E]], %[[F]])
// CALLS-NEXT:    %[[H:.*]] = relay.annotation.compiler_begin(%t) {compiler = "test"}
// CALLS-NEXT:    relay.concatenate(%[[H]])
func.func @tuple(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %a = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.nn.relu(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tuple(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %c = relay.concatenate(%t) : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<8xf32>
  func.return %c : tensor<8xf32>
}

// Fields from two regions: "default".
// CHECK-LABEL: @field(
// CHECK:         %t = relay.tuple
// CHECK-NEXT:    %[[E:.*]] = relay.annotation.compiler_end(%t) {compiler = "default"}
// CHECK-NEXT:    %[[B:.*]] = relay.annotation.compiler_begin(%[[E]]) {compiler = "default"}
// CHECK-NEXT:    %f = relay.tuple_get_item(%[[B]])
// CHECK-NEXT:    relay.annotation.compiler_end(%f) {compiler = "default"}
// CALLS-LABEL: @field(
// CALLS:         %[[E:.*]] = relay.annotation.compiler_end(%z) {compiler = "test"}
// CALLS-NEXT:    %t = relay.tuple(%[[E]], %a)
// CALLS-NEXT:    %f = relay.tuple_get_item(%t)
// CALLS-NEXT:    func.return %f
func.func @field(%a: tensor<4xf32>) -> tensor<4xf32> {
  %z = relay.nn.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tuple(%z, %a) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %f = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  func.return %f : tensor<4xf32>
}

// A composite function is for the target before the dot; its body is unchanged.
// CHECK-LABEL: @composite(
// CHECK-NEXT:    %f = relay.fn(%p: tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "test.relu"} {
// CHECK-NEXT:      relay.nn.relu(%p)
// CHECK:         %[[B:.*]] = relay.annotation.compiler_begin(%a) {compiler = "test"}
// CHECK-NEXT:    %c = relay.invoke %f(%[[B]])
// CHECK-NEXT:    relay.annotation.compiler_end(%c) {compiler = "test"}
// CHECK:         relay.annotation.compiler_begin({{.*}}) {compiler = "default"}
// CHECK-NEXT:    %d = relay.invoke %g(
func.func @composite(%a: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn(%p : tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "test.relu"} {
    %r = relay.nn.relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %c = relay.invoke %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %g = relay.fn(%p : tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "another.exp"} {
    %r = relay.exp(%p) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %d = relay.invoke %g(%c) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// A branch is not part of a region, but its ops may be; an op without arguments is not.
// CHECK-LABEL: @branch(
// CHECK:         %[[E:.*]] = relay.annotation.compiler_end(%e) {compiler = "test"}
// CHECK-NEXT:    %r = relay.if %[[E]]
// CHECK-NEXT:      %[[B:.*]] = relay.annotation.compiler_begin(%x) {compiler = "test"}
// CHECK-NEXT:      %t = relay.nn.relu(%[[B]])
// CHECK-NEXT:      %[[F:.*]] = relay.annotation.compiler_end(%t) {compiler = "test"}
// CHECK-NEXT:      relay.yield %[[F]]
// CHECK:           %z = relay.zeros()
// CHECK-NEXT:      relay.yield %z
// CHECK:         %[[C:.*]] = relay.annotation.compiler_begin(%r) {compiler = "test"}
// CHECK-NEXT:    relay.nn.relu(%[[C]])
func.func @branch(%x: tensor<4xf32>, %c: tensor<f32>, %d: tensor<f32>) -> tensor<4xf32> {
  %e = relay.equal(%c, %d) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r = relay.if %e : tensor<i1> -> tensor<4xf32> {
    %t = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %t : tensor<4xf32>
  } else {
    %z = relay.zeros() {shape = [4], dtype = f32} : () -> tensor<4xf32>
    relay.yield %z : tensor<4xf32>
  }
  %s = relay.nn.relu(%r) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// A call of a function value is annotated like other ops, or excluded with them.
// CHECK-LABEL: @closure(
// CHECK:           %[[B:.*]] = relay.annotation.compiler_begin(%s) {compiler = "default"}
// CHECK-NEXT:      %t = relay.invoke %self(%[[B]])
// CHECK-NEXT:      %[[E:.*]] = relay.annotation.compiler_end(%t) {compiler = "default"}
// CHECK-NEXT:      relay.yield %[[E]]
// CALLS-LABEL: @closure(
// CALLS:           %t = relay.invoke %self(%s)
// CALLS-NEXT:      relay.yield %t
func.func @closure(%v: tensor<2xf32>) -> tensor<2xf32> {
  %f = relay.fn rec(%self)(%s : tensor<2xf32>) -> tensor<2xf32> {
    %t = relay.invoke %self(%s) : (tensor<2xf32>) -> tensor<2xf32>
    relay.yield %t : tensor<2xf32>
  }
  %g = relay.let "loop" = %f : (tensor<2xf32>) -> tensor<2xf32>
  %r = relay.invoke %g(%v) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// Functions for another compiler are unchanged.
// CHECK-LABEL: @taken(
// CHECK-NEXT:    relay.nn.relu(%x)
func.func private @taken(%x: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "other"} {
  %r = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
