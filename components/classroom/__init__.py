"""A class in one room: how it joins, what a tab keeps, the answers beside the model's."""
