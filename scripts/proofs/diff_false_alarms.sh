#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "aaco diff: false alarms over 200 comparisons of equal runs (10 min)" "$@"
need_program
bench/verdict_power.py diff --comparisons "${AACO_PROOF_COMPARISONS:-200}" --iterations 200
