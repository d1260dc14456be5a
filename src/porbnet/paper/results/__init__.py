"""One module per figure or table: numbers, picture, claims."""
