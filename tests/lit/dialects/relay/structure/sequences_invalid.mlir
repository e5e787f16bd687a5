// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @no_values() {
  // expected-error@below {{[relay.sequence_construct C1]}}
  %r = relay.sequence_construct() : () -> !relay.incomplete
  func.return
}

// -----

func.func @kinds(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@below {{[relay.sequence_construct C3]}}
  %r = relay.sequence_construct(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @of() {
  // expected-error@below {{[relay.sequence_empty C3]}}
  %r = relay.sequence_empty() {of = f32} : () -> !relay.incomplete
  func.return
}

// -----

func.func @sequence_insert(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.sequence_insert C1] the operand must be a sequence, found tensor<4xf32>}}
  %r = relay.sequence_insert(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @sequence_erase(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.sequence_erase C1] the operand must be a sequence, found tensor<4xf32>}}
  %r = relay.sequence_erase(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @sequence_length(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.sequence_length C1] the operand must be a sequence, found tensor<4xf32>}}
  %r = relay.sequence_length(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @concat_from_sequence(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.concat_from_sequence C1] the operand must be a sequence, found tensor<4xf32>}}
  %r = relay.concat_from_sequence(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @sequence_at(%x: tensor<4xf32>, %at: tensor<i64>) {
  // expected-error@below {{[relay.sequence_at C1] the operand must be a sequence, found tensor<4xf32>}}
  %r = relay.sequence_at(%x, %at) : (tensor<4xf32>, tensor<i64>) -> !relay.incomplete
  func.return
}

// -----

func.func @insert_place(%s: !relay.sequence<tensor<4xf32>>, %x: tensor<4xf32>) {
  // expected-error@below {{[relay.sequence_insert C2]}}
  %r = relay.sequence_insert(%s, %x, %x) : (!relay.sequence<tensor<4xf32>>, tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @insert_element(%s: !relay.sequence<tensor<4xf32>>, %x: tensor<4xi8>) {
  // expected-error@below {{[relay.sequence_insert C3]}}
  %r = relay.sequence_insert(%s, %x) : (!relay.sequence<tensor<4xf32>>, tensor<4xi8>) -> !relay.incomplete
  func.return
}

// -----

func.func @at_rank(%s: !relay.sequence<tensor<*xf32>>, %at: tensor<i64>) {
  // expected-error@below {{[relay.sequence_at C4] the values must have one rank, found tensor<*xf32>}}
  %r = relay.sequence_at(%s, %at) : (!relay.sequence<tensor<*xf32>>, tensor<i64>) -> !relay.incomplete
  func.return
}

// -----

func.func @concat_rank(%s: !relay.sequence<tensor<*xf32>>) {
  // expected-error@below {{[relay.concat_from_sequence C4] the values must have one rank, found tensor<*xf32>}}
  %r = relay.concat_from_sequence(%s) : (!relay.sequence<tensor<*xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @erase_place(%s: !relay.sequence<tensor<4xf32>>, %x: tensor<i1>) {
  // expected-error@below {{[relay.sequence_erase C2]}}
  %r = relay.sequence_erase(%s, %x) : (!relay.sequence<tensor<4xf32>>, tensor<i1>) -> !relay.incomplete
  func.return
}

// -----

func.func @at_place(%s: !relay.sequence<tensor<4xf32>>, %x: tensor<1xi64>) {
  // expected-error@below {{[relay.sequence_at C2]}}
  %r = relay.sequence_at(%s, %x) : (!relay.sequence<tensor<4xf32>>, tensor<1xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @concat_axis(%s: !relay.sequence<tensor<4xf32>>) {
  // expected-error@below {{[relay.concat_from_sequence C2] axis 1 is out of range for rank 1}}
  %r = relay.concat_from_sequence(%s) {axis = 1} : (!relay.sequence<tensor<4xf32>>) -> !relay.incomplete
  func.return
}

// -----

func.func @split_axis(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.split_to_sequence C1] axis 1 is out of range for rank 1}}
  %r = relay.split_to_sequence(%x) {axis = 1} : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @split_parts(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.split_to_sequence C2] extents of parts are integers}}
  %r = relay.split_to_sequence(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @no_type() {
  // expected-error@below {{[relay.optional_construct C1] 0 operands and no type in of}}
  %r = relay.optional_construct() : () -> !relay.incomplete
  func.return
}

// -----

func.func @has(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.optional_has_element C1] the operand must be an optional, found tensor<4xf32>}}
  %r = relay.optional_has_element(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @get(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.optional_get_element C1] the operand must be an optional, found tensor<4xf32>}}
  %r = relay.optional_get_element(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @get_any_rank(%o: !relay.optional<tensor<*xf32>>) {
  // expected-error@below {{[relay.optional_get_element C2] the value must have one rank, found tensor<*xf32>}}
  %r = relay.optional_get_element(%o) : (!relay.optional<tensor<*xf32>>) -> !relay.incomplete
  func.return
}

// -----

// expected-error@below {{[relay.sequence C1]}}
func.func @named_sequence(%s: !relay.sequence<tensor<?xf32, #relay.dims<n>>>) {
  func.return
}

// -----

// expected-error@below {{[relay.optional C1]}}
func.func @named_optional(%s: !relay.optional<tensor<?xf32, #relay.dims<n>>>) {
  func.return
}
