// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @generate(%k: tensor<9xui64>) {
  // expected-error@below {{[relay.random.threefry_generate C1] a key is tensor<10xui64>, found tensor<9xui64>}}
  %z = relay.random.threefry_generate(%k) {out_shape = [2]} : (tensor<9xui64>) -> !relay.incomplete
  func.return
}

// -----

func.func @split(%k: tensor<9xui64>) {
  // expected-error@below {{[relay.random.threefry_split C1] a key is tensor<10xui64>, found tensor<9xui64>}}
  %z = relay.random.threefry_split(%k) : (tensor<9xui64>) -> !relay.incomplete
  func.return
}

// -----

func.func @uniform(%k: tensor<9xui64>, %a: tensor<f32>) {
  // expected-error@below {{[relay.random.uniform C1] a key is tensor<10xui64>, found tensor<9xui64>}}
  %z = relay.random.uniform(%k, %a, %a) {out_shape = [2], out_dtype = f32} : (tensor<9xui64>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @normal(%k: tensor<9xui64>, %a: tensor<f32>) {
  // expected-error@below {{[relay.random.normal C1] a key is tensor<10xui64>, found tensor<9xui64>}}
  %z = relay.random.normal(%k, %a, %a) {out_shape = [2], out_dtype = f32} : (tensor<9xui64>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @multinomial(%k: tensor<9xui64>, %p: tensor<3xf32>) {
  // expected-error@below {{[relay.random.multinomial C1] a key is tensor<10xui64>, found tensor<9xui64>}}
  %z = relay.random.multinomial(%k, %p) {num_samples = 2} : (tensor<9xui64>, tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @bounds(%k: tensor<10xui64>, %a: tensor<f32>) {
  // expected-error@below {{[relay.random.uniform C3] numbers of f64 with parameters tensor<f32> and tensor<f32>}}
  %z = relay.random.uniform(%k, %a, %a) {out_shape = [2], out_dtype = f64} : (tensor<10xui64>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @half(%k: tensor<10xui64>, %a: tensor<f16>) {
  // expected-error@below {{[relay.random.normal C3] numbers of f16 with parameters tensor<f16> and tensor<f16>}}
  %z = relay.random.normal(%k, %a, %a) {out_shape = [2], out_dtype = f16} : (tensor<10xui64>, tensor<f16>, tensor<f16>) -> !relay.incomplete
  func.return
}

// -----

func.func @classes(%k: tensor<10xui64>, %p: tensor<2x0xf32>) {
  // expected-error@below {{[relay.random.multinomial C4]}}
  %z = relay.random.multinomial(%k, %p) {num_samples = 2} : (tensor<10xui64>, tensor<2x0xf32>) -> !relay.incomplete
  func.return
}
