"""Tests on the services themselves; each runs when its key is set, and costs a fraction of a cent."""
