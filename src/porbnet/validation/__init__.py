"""Evidence that the package is right: calibration, joint tests, mutants, coverage, drift."""
