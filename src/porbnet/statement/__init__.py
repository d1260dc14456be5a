"""What a user states, and what it means: priors, their parts, defaults, advice."""
