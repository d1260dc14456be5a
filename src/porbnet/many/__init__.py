"""Many series, each with a fit of its own: on one machine, or on a Dask cluster."""
