"""One protocol per file, named as in its paper; the catalog finds them by name."""
