"""One file per command, called what the user types; each declares options and calls the library."""
