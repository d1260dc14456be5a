"""Functions of the model: networks and their moments, Gaussian processes on grids, quadrature."""
