"""The gradient rules of operators, with one file for each family. All files of the folder are imported."""
