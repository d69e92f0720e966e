#!/bin/sh
# sh parallel.sh 8 [OPTIONS OF keval run]
# Parts of the samples on the cores of this machine by GNU parallel; --sshlogin in PARALLEL sends them to others.
parts=$1
shift
exec parallel --halt soon,fail=1 keval run eval.yaml --quiet --shard "{}/$parts" --output "part-{}.jsonl" "$@" ::: $(seq "$parts")
