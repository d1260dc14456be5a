"""What the user states and what it means: regions, networks, the prior and its moments."""
