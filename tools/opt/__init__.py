"""The parts of `xrelay-opt`: command line, driver, expected diagnostics, catalogues."""
