"""Clients tested on the wire, against servers that speak the services' own formats."""
