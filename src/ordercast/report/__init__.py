"""What people look at: figures and tables of the papers, and the report of a directory of runs as one HTML file."""
