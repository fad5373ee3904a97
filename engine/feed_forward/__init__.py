"""One block as a list of additions, and the neurons of its feed-forward network."""
