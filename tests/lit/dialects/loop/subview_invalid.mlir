// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @other_elements(%x: memref<6xf32>) {
  %zero = arith.constant 0 : index
  // expected-error@below {{[loop.subview C1] memref<4xi32> is not a view of memref<6xf32>}}
  %p = loop.subview %x[%zero][] : memref<6xf32> to memref<4xi32>
  func.return
}

// -----

func.func @gaps(%x: memref<6xf32, strided<[2]>>) {
  %zero = arith.constant 0 : index
  // expected-error@below {{[loop.subview C1] memref<4xf32> is not a view of memref<6xf32, strided<[2]>>}}
  %p = loop.subview %x[%zero][] : memref<6xf32, strided<[2]>> to memref<4xf32>
  func.return
}

// -----

func.func @sizes(%x: memref<6xf32>, %n: index) {
  // expected-error@below {{[loop.subview C2]}}
  %p = loop.subview %x[%n][] : memref<6xf32> to memref<?xf32>
  func.return
}

// -----

func.func @too_long(%x: memref<6xf32>) {
  %three = arith.constant 3 : index
  // expected-error@below {{[loop.subview C3]}}
  %p = loop.subview %x[%three][] : memref<6xf32> to memref<4xf32>
  func.return
}

// -----

func.func @before(%x: memref<?xf32>, %n: index) {
  %minus = arith.constant -1 : index
  // expected-error@below {{[loop.subview C3]}}
  %p = loop.subview %x[%minus][%n] : memref<?xf32> to memref<?xf32>
  func.return
}

// -----

func.func @moved(%x: memref<6x4xf32>) {
  %zero = arith.constant 0 : index
  // expected-error@below {{[loop.subview C1] memref<6x2xf32, strided<[4, 1], offset: 2>> is not a view of}}
  %p = loop.subview %x[%zero][] : memref<6x4xf32> to memref<6x2xf32, strided<[4, 1], offset: 2>>
  func.return
}

// -----

func.func @open_strides(%x: memref<6x4xf32>) {
  %zero = arith.constant 0 : index
  // expected-error@below {{[loop.subview C1] memref<6x2xf32, strided<[?, 1]>> is not a view of memref<6x4xf32>}}
  %p = loop.subview %x[%zero][] : memref<6x4xf32> to memref<6x2xf32, strided<[?, 1]>>
  func.return
}

// -----

func.func @outside(%x: memref<6x4xf32>) {
  %three = arith.constant 3 : index
  // expected-error@below {{[loop.subview C3]}}
  %p = loop.subview %x[%three][] : memref<6x4xf32> to memref<6x2xf32, strided<[4, 1]>>
  func.return
}
