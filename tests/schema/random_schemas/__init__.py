"""Random schemas over the whole language, and random objects of them, through everything."""
