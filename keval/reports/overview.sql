-- One row: what a log holds in short. not_done is null if no run says what was planned; failed are tasks without an answer.
select
    (select count(*) from response_facts where current) as answers,
    (select count(*) from judgment_facts where current) as judgments,
    (select max(time) from events) as newest,
    (
        select bool_or(mock) from (
            select mock from response_facts where current union all select mock from judgment_facts where current
        )
    ) as mock,
    (select list(condition order by place) from conditions where current) as conditions,
    (select sum(failed)::bigint from missing where current) as failed,
    (select if(bool_or(not_done is null), null, sum(not_done)::bigint) from missing where current) as not_done
