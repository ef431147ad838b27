"""What the service keeps: runs, jobs and their files, and for how long."""
