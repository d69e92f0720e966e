-- One row per row of a view of one log that is kept apart from the others: part of the view over all of them.
select $name as log, columns(lambda name: name <> 'log')
from $view
