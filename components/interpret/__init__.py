"""Pictures of the logit lens and of knock-outs, used by two pages."""
