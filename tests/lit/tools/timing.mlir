// Times as a tree, in text or JSON, on stderr or in a file; and statistics.
// RUN: xrelay-opt %s -p stage-typed,cse,canonicalize --timing -o %t 2>&1 | filecheck %s --check-prefix TREE
// RUN: xrelay-opt %s -p SimplifyInference --timing-format=json --timing-file=%t.json --pass-statistics -o %t 2>&1 | filecheck %s --check-prefix STATISTICS
// RUN: filecheck %s --check-prefix JSON --input-file %t.json

// TREE: seconds own share step
// TREE: parse
// TREE: verify
// TREE: passes
// TREE: {{  }}stage-typed
// TREE: {{    }}relay-infer-type
// TREE: {{  }}cse
// TREE: {{  }}verify
// TREE: {{  }}canonicalize
// TREE: print
// TREE: 100.0%  total
// STATISTICS: relay-simplify-inference 7 -> 3 -1 relay.nn.dropout, -1 relay.tuple, -2 relay.tuple_get_item
// STATISTICS: SimplifyDropout tried {{[0-9]+}}, hit 1
// STATISTICS: TakeFieldOfTuple tried {{[0-9]+}}, hit 1
// JSON: {"name": "total", "seconds": {{.*}}, "own_seconds": {{.*}}, "steps": [{"name": "parse"
// JSON: {"name": "passes", {{.*}} "steps": [{"name": "relay-simplify-inference"
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = relay.nn.dropout(%x) : (tensor<4x8xf32>) -> tuple<tensor<4x8xf32>, tensor<4x8xf32>>
  %y = relay.tuple_get_item(%d) {index = 0 : i64} : (tuple<tensor<4x8xf32>, tensor<4x8xf32>>) -> tensor<4x8xf32>
  %t = relay.tuple(%y, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tuple<tensor<4x8xf32>, tensor<4x8xf32>>
  %z = relay.tuple_get_item(%t) {index = 0 : i64} : (tuple<tensor<4x8xf32>, tensor<4x8xf32>>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}
