"""A class in one room: who is there, what the teacher shows and asks, and the class's score."""
