"""What the ten guesses measure on the running model: one function per belief, plain results."""
