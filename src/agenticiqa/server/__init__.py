"""The service: REST with live progress, jobs that survive a restart, and a page."""
