"""The torch module as it is: its facts, where its parts sit, how it attends and multiplies."""
