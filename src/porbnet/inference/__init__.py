"""How the posterior is reached: samplers, chains and their draws."""
