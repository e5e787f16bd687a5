// A symbol that can be printed can be read: the generic form takes any word for its visibility.
// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{the visibility of a symbol must be public, private or nested, found "hidden"}}
"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "hidden"}> ({}) : () -> ()

// -----

// Reading looks at the results of functions; one without a type is the verifier's.
// expected-error@below {{property 'function_type' expected in operation 'func.func'}}
"func.func"() <{sym_name = "f"}> ({}) : () -> ()
