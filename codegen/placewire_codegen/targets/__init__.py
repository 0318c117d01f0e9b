"""One module per kind of output; each turns the schema into finished strings for its templates."""
