"""The stable imports for packages that extend xrelay, one module per kind of extension; see docs/extending.md."""
