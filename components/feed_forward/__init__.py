"""Pictures and controls of the page on feed-forward and the residual stream."""
