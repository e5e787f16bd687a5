"""The builder that the `gradient` methods of operators receive, and what several of them share."""
