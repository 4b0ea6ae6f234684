#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "the smallest effect this machine can resolve: aaco capsule check (5 min)" "$@"
need_program
"$program" capsule check --json >"$out.json"
"$program" capsule check
