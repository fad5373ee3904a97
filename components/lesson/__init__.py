"""The ten guesses: the steps as plain data, the bar, the questions, the reveals and the check."""
