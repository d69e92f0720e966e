-- No query but a function: the difference of two means, as exact as what they are means of: to thirteen digits of the largest value.
create or replace macro session.mean_difference(mean, baseline_mean, largest) as
    round(mean - baseline_mean, 12 - floor(log10(greatest(largest, 1e-290)))::int) + 0.0
