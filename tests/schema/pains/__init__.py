"""Known troubles with generated Python, and the schema that shows that ours has none of them."""
