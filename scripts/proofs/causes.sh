#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "bottlenecks and causes on runs with injected faults, models never trained on (20 min; continues)" "$@"
need_program
lake=$out.$commit.sessions next=$out.$commit.next
start=$(cat "$next" 2>/dev/null || echo 0)
told=$(scripts/make_lab_sessions.py --program "$program" --sessions "$lake" --seconds "${AACO_PROOF_SECONDS:-1200}" --start "$start" --test)
echo "$told"
sed -nE 's/^next --start ([0-9]+) .*/\1/p' <<<"$told" >"$next"
"$program" --sessions "$lake" lab score --json >"$out.json"
"$program" --sessions "$lake" lab score
