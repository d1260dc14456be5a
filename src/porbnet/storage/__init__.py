"""Saved models and checkpoints: files that hold numbers and words, never code."""
