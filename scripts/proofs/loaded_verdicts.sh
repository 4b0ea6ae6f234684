#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "aaco diff on two CPUs with four spinning processes: equal runs, and 10 % more computing (25 min)" "$@"
need_program
command -v taskset >/dev/null || skip "taskset is missing (util-linux)"
two=(taskset -c "${AACO_PROOF_CPUS:-0,1}")
"${two[@]}" bench/verdict_power.py diff --comparisons "${AACO_PROOF_COMPARISONS:-200}" --model squeezenet1.1 --duration 500ms --load 4
"${two[@]}" bench/verdict_power.py diff --comparisons "${AACO_PROOF_PAIRS:-40}" --model squeezenet1.1 --threads 1 --duration 2s --load 4 \
  --threshold 5%,2% --change 'lab inject --intensity 0.7 -- tiny_kernels'
