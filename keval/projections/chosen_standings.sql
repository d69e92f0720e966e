-- One row per chosen line: its position, and what becomes of it, as `standing` says it.
select line_offsets.position, standing.*
from line_offsets
positional join standing
