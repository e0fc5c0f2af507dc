"""The checks of tools/tidy.py, a module a subject. Each check takes a Tree and yields Findings."""
