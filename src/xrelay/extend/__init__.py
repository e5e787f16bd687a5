"""The stable imports for packages that extend xrelay, one module for each kind of extension; see docs/extending.md."""
