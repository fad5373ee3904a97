"""The knock-out view, shown by the attention and the feed-forward page."""
