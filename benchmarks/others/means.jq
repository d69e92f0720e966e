# Prints the mean score of each condition and metric: jq -n -c -f means.jq log.jsonl
reduce (inputs | select(.type == "judgment") | .condition as $condition | .scores | to_entries[]
        | {key: ([$condition, .key] | tojson), score: .value.score}) as $each
  ({}; .[$each.key] |= [(.[0] // 0) + $each.score, (.[1] // 0) + 1])
| to_entries[] | (.key | fromjson) + [.value[0] / .value[1]]
