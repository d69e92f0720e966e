-- One row per pair of a series.
select a, b from session.compared_pairs where series = $series order by pair
