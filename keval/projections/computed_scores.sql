-- One row per answer that a judge scored and metric that is computed from the judges' scores. score is null, for the
-- reason that why_null says, where a part has no score or nobody counted the answer's tokens: never a number in its place.
-- not_applicable is the reason if a part does not apply. untold: all parts have a score, and the tokens are unknown.
-- tokens are those that the agent read and wrote, no judge's and no failed attempt's; what a cache held counts where the
-- agent tells it. passed: the score is above pass_above by more than float noise; it may be of any scale.
with part as (
    select
        s.answer, p.judge_id, p.metric, p.part, p.name, any_value(p.weight) as weight,
        favg(s.score) as score,
        arg_min(s.not_applicable, s.position) filter (s.not_applicable is not null) as not_applicable,
        arg_min({
            file: s.file, line_offset: s.line_offset, run_id: s.run_id, position: s.position,
            condition_id: s.condition_id, agent_id: s.agent_id,
            sample_id: s.sample_id, repetition: s.repetition, response_id: s.response_id
        }, s.position) as first,
        bool_or(s.mock) as mock
    from score_facts as s
    join computed_parts as p on p.of_judge_id = s.judge_id and p.of_metric = s.metric
    group by s.answer, p.judge_id, p.metric, p.part, p.name
),
answer as (
    -- In the order of the parts: the last bits of a sum depend on it.
    select
        answer, judge_id, metric,
        count(score) as scored,
        sum(weight * score order by part) / sum(weight order by part) as mean,
        product(score ** weight order by part) as product,
        list({name: name, why: not_applicable} order by part) filter (score is null and not_applicable is not null)
            as inapplicable,
        list(name order by part) filter (score is not null) as names,
        arg_min(first, first.position) as first, bool_or(mock) as mock
    from part
    group by answer, judge_id, metric
),
counted as (
    select
        a.*, m.* exclude (judge_id, metric, sequence, formula), len(m.parts) as n_parts,
        r.usage.input_tokens + r.usage.output_tokens
            + coalesce(r.usage.cache_read_input_tokens, 0) + coalesce(r.usage.cache_creation_input_tokens, 0) as told,
        if(told > 0 and tokens_exponent is not null, told, null) as tokens
    from answer as a
    join computed_metrics as m using (judge_id, metric)
    left join (select position, usage from events where type = 'response') as r on r.position = a.answer
),
valued as (
    select
        counted.*,
        case
            when scored < n_parts then null
            when tokens_exponent is null then mean
            else product / (tokens / per_tokens) ** tokens_exponent
        end as score
    from counted
)
select
    unnest(first), answer, judge_id, metric, computed, score, min, max, score - pass_above > 1e-9 * greatest(abs(score), abs(pass_above)) as passed,
    inapplicable[1].name || ': ' || inapplicable[1].why as not_applicable,
    case
        when score is not null then null
        when inapplicable is not null then not_applicable
        when scored < n_parts then 'no score of ' || list_filter(
            list_transform(parts, lambda given: given.judge || '/' || given.metric),
            lambda name: not coalesce(list_contains(names, name), false)
        )[1]
        else 'no token count'
    end as why_null,
    scored = n_parts and score is null as untold,
    tokens, mock
from valued
