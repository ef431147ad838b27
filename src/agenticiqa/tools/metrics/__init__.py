"""The built-in metrics: pure functions from 8-bit RGB arrays to a number, and to a map where one exists."""
