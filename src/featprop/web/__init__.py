"""What people see in a browser: the labelling page, the report, and the drawing both share."""
