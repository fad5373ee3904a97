"""The traced forward pass, and parts of the network run again on what it recorded."""
