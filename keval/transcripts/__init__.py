"""Single tasks as a person reads them: what was asked, done, answered, judged and paid."""
