"""The builder that the `gradient` methods of operators receive, and code that several of them share."""
