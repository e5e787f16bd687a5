"""How each operator is differentiated, a file for each family of operators; the folder is imported whole."""
