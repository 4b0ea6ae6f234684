#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "aaco ab: false alarms and found changes of 2, 5 and 10 %, 60 comparisons each (3 h; continues)" "$@"
need_program
# One file per commit: an interrupted measurement continues with what it has.
bench/verdict_power.py ab --comparisons "${AACO_PROOF_COMPARISONS:-60}" --duration 8s --threads 1 --model squeezenet,mlp --threshold 1% \
  --inject 0,2,5,10 --results "$out.$commit.jsonl"
