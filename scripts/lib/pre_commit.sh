#!/usr/bin/env bash
# A git hook for those who want it: what needs no build must be clean before a commit (CONTRIBUTING.md says how it is put in place).
#   scripts/lib/pre_commit.sh
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
cd "$(git rev-parse --show-toplevel)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
scripts/run_tests.sh --checks >"$log" 2>&1 || { cat "$log" >&2; echo "pre-commit: not committed; mend what is listed above" >&2; exit 1; }
