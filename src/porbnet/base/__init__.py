"""What everything stands on: checks of input, seeds, compilation."""
