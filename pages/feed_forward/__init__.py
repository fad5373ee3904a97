"""The page on feed-forward and the residual stream."""
