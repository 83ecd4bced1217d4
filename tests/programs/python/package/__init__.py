"""Run as `python3 -m package`, as `python3 package`, and from a zip file."""
