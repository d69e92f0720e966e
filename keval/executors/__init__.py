"""Does one thing once, here or elsewhere: a spec in, an outcome out, plain data both. What is next, others decide."""
