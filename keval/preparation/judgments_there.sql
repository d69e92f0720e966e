-- One row per judgment, of what the mock made only to a mock run, with what says whether it need not be made again: see
-- judgment_standings.
-- answer: the position of the response that was judged, which is less to compare than its id.
select
    position, id, answer, condition_id, agent_id, judge_id, replicate, other_response_id as other, answer_sha256,
    other_answer_sha256, same_answer, same_sample
from facts
where type = 'judgment' and ($mock or not mock)
