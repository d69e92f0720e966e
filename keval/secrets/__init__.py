"""What keval does about secrets: it resolves them, knows every spelling of them, and keeps them out of words."""
