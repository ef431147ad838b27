"""Assessing images for agents, over the Model Context Protocol."""
