-- No query but the column `passed` of outcomes and verdicts: whether a score of an answer passes, by the threshold that is given, else by
-- what most judgments say, else by the log's own threshold; null where there is no score, or nothing says it.
case
    when score is null then null
    when given_from is not null then score >= given_from - $pass_slack
    when share_passed is not null then share_passed > 0.5
    else score >= own_from - $pass_slack
end
