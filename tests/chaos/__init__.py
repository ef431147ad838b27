"""Trying to break the agent: faults on the wire, hostile text, shared caches, kills and full disks.

`python -m tests.chaos` runs all of it at length and prints the figures; the tests here are the short version.
"""
