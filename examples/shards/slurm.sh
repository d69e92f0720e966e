#!/bin/sh
# sbatch --array=1-8 slurm.sh [OPTIONS OF keval run]
# One task of the array does one part of the samples; submitted again, each goes on where it was.
#SBATCH --job-name=keval
#SBATCH --array=1-8
#SBATCH --cpus-per-task=2
#SBATCH --time=08:00:00
exec keval run eval.yaml --quiet \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --output "part-$SLURM_ARRAY_TASK_ID.jsonl" "$@"
