"""From logits to one token: settings, the chain of steps, experiments. Only numpy is needed."""
