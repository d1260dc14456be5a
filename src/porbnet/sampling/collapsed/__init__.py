"""The collapsed sampler: weights and bias integrated out, centers and hyper-parameters sampled exactly."""
