// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @insert_element(%x: memref<4xi32>, %l: !loop.list<f32>, %at: index) {
  // expected-error@below {{[loop.list_insert C1]}}
  %r = loop.list_insert %x[] in %l at %at : memref<4xi32> in !loop.list<f32>
  func.return
}

// -----

func.func @insert_extents(%x: memref<?xf32>, %l: !loop.list<f32>, %at: index) {
  // expected-error@below {{[loop.list_insert C2] 0 extents for a value of type memref<?xf32>}}
  %r = loop.list_insert %x[] in %l at %at : memref<?xf32> in !loop.list<f32>
  func.return
}

// -----

func.func @extents(%l: !loop.list<!loop.list<f32>>, %at: index) {
  // expected-error@below {{[loop.list_extents C1]}}
  %r = loop.list_extents %l at %at : !loop.list<!loop.list<f32>> -> index
  func.return
}

// -----

func.func @read(%l: !loop.list<f32>, %at: index, %x: memref<4xi32>) {
  // expected-error@below {{[loop.list_read C1]}}
  loop.list_read %l at %at into %x : !loop.list<f32> into memref<4xi32>
  func.return
}

// -----

func.func @at(%l: !loop.list<f32>, %at: index) {
  // expected-error@below {{[loop.list_at C1]}}
  %r = loop.list_at %l at %at : !loop.list<f32> -> !loop.list<f32>
  func.return
}

// -----

func.func @part_element(%l: !loop.list<f32>, %at: index, %x: memref<4xi32>) {
  // expected-error@below {{[loop.list_insert_part C1]}}
  %r = loop.list_insert_part %x[] from %at count %at in %l at %at {axis = 0 : i64} : memref<4xi32> in !loop.list<f32>
  func.return
}

// -----

func.func @part_extents(%l: !loop.list<f32>, %at: index, %x: memref<4xf32>) {
  // expected-error@below {{[loop.list_read_part C2] 1 extents for a buffer of type memref<4xf32>}}
  loop.list_read_part %l at %at into %x[%at] from %at {axis = 0 : i64} : !loop.list<f32> into memref<4xf32>
  func.return
}

// -----

func.func @part_axis(%l: !loop.list<f32>, %at: index, %x: memref<4xf32>) {
  // expected-error@below {{[loop.list_read_part C3] axis 1 of memref<4xf32>}}
  loop.list_read_part %l at %at into %x[] from %at {axis = 1 : i64} : !loop.list<f32> into memref<4xf32>
  func.return
}

// -----

func.func @insert_part_extents(%l: !loop.list<f32>, %at: index, %x: memref<?xf32>) {
  // expected-error@below {{[loop.list_insert_part C2] 0 extents for a buffer of type memref<?xf32>}}
  %r = loop.list_insert_part %x[] from %at count %at in %l at %at {axis = 0 : i64} : memref<?xf32> in !loop.list<f32>
  func.return
}

// -----

func.func @insert_part_axis(%l: !loop.list<f32>, %at: index, %x: memref<4xf32>) {
  // expected-error@below {{[loop.list_insert_part C3] axis -1 of memref<4xf32>}}
  %r = loop.list_insert_part %x[] from %at count %at in %l at %at {axis = -1 : i64} : memref<4xf32> in !loop.list<f32>
  func.return
}

// -----

func.func @read_part_element(%l: !loop.list<f32>, %at: index, %x: memref<4xi32>) {
  // expected-error@below {{[loop.list_read_part C1]}}
  loop.list_read_part %l at %at into %x[] from %at {axis = 0 : i64} : !loop.list<f32> into memref<4xi32>
  func.return
}
