-- One row per label that counts.
select position, line_offset from label_facts where current order by position
