// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{'splt'; did you mean 'split'?}}
func.func @misspelt() attributes {loop.schedule = #loop.schedule<[splt("i", 4)]>} {
  func.return
}

// -----

// expected-error@below {{split: takes 2 positional arguments, got 1}}
func.func @too_few() attributes {loop.schedule = #loop.schedule<[split("i")]>} {
  func.return
}

// -----

// expected-error@below {{split: argument 'factor' needs a number, got "4"}}
func.func @wrong_kind() attributes {loop.schedule = #loop.schedule<[split("i", "4")]>} {
  func.return
}

// -----

// expected-error@below {{split: has no argument 'tails'}}
func.func @wrong_name() attributes {loop.schedule = #loop.schedule<[split("i", 4, tails = mask)]>} {
  func.return
}

// -----

// expected-error@below {{expected peel or mask, got 'cut'}}
func.func @wrong_tail() attributes {loop.schedule = #loop.schedule<[split("i", 4, tail = cut)]>} {
  func.return
}

// -----

// expected-error@below {{[loop.schedule C1] split("i", 0): the factor must be positive, got 0}}
func.func @wrong_factor() attributes {loop.schedule = #loop.schedule<[split("i", 0)]>} {
  func.return
}

// -----

// expected-error@below {{[loop.schedule C1] reorder("i"): at least two loops are needed, got 1}}
func.func @one_loop() attributes {loop.schedule = #loop.schedule<[reorder("i")]>} {
  func.return
}

// -----

// expected-error@below {{partial_sums: argument 'factors' needs true or false, got 1}}
func.func @wrong_flag() attributes {loop.schedule = #loop.schedule<[partial_sums("gemm", "k", factors = 1)]>} {
  func.return
}

// -----

// expected-error@below {{split: argument 'tail' needs peel or mask, got true}}
func.func @flag_as_tail() attributes {loop.schedule = #loop.schedule<[split("i", 4, tail = true)]>} {
  func.return
}
