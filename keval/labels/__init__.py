"""What people say of responses: which ones they are asked about, on paper or in the terminal, and what they said."""
