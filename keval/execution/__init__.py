"""Does the work of a run: which tasks remain, doing them, and recording what came of each."""
