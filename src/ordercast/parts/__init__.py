"""Plain data structures that protocols share."""
