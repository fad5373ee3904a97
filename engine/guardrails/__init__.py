"""Guards around a model and the comparison of where each of them leaks."""
