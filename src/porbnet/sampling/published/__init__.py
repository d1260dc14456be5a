"""The paper's own sampler: Hamiltonian Monte Carlo on the network, birth and death of units, thinned events."""
