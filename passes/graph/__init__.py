"""Questions about relay graphs and edits of them that several passes share."""
