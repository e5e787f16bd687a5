"""From one level to the next; `pipelines` is the table of contents of the compiler."""
