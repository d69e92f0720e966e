"""Draws what a report says as a picture for papers and slides; a page draws the same marks."""
