"""Work in parallel that is kept as it is done."""
