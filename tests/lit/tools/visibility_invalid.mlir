// A symbol that prints must parse: the generic form accepts any string as visibility.
// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{the visibility of a symbol must be public, private or nested, found "hidden"}}
"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "hidden"}> ({}) : () -> ()

// -----

// The parser reads the results of functions; a missing type is the verifier's error.
// expected-error@below {{property 'function_type' expected in operation 'func.func'}}
"func.func"() <{sym_name = "f"}> ({}) : () -> ()
