"""How the posterior is reached."""
