#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "the smallest effect this machine can detect: aaco capsule check (1 min)" "$@"
need_program
status=0
"$program" capsule check --duration 60s --json >"$out.json" || status=$?
[ $status = 0 ] || [ $status = 4 ] || exit $status # 4: measured, and the machine is not quiet
python3 -c '
import json, sys
for loop in json.load(open(sys.argv[1]))["loops"]:
    print(loop["loop"], *(f"{side} {ratio:.2%}" for side, ratio in loop["detectable_interleaved_ratio"].items()), end="; ")
print("smallest detectable effect, interleaved")' "$out.json"
