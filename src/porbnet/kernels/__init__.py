"""What samplers and likelihoods share below Python: records and the kernels that work on them."""
