#!/usr/bin/env bash
# Runs one fuzz target: its seed corpus, then new inputs for $fuzz_seconds seconds (default 5).
#   scripts/lib/fuzz_one.sh TARGET
# Writes build/fuzz/logs/TARGET.log; TARGET.ok exists when nothing was found, else the input is kept as TARGET-*.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
name=$1 logs=build/fuzz/logs seeds=tests/fixtures/fuzz/$1
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
corpus=("$fresh")
[ ! -d "$seeds" ] || corpus+=("$seeds")
count=$({ find -L "$seeds" -type f 2>/dev/null || true; } | wc -l)
options=(-artifact_prefix="$logs/$name-" -rss_limit_mb=2048 -timeout=20 -max_len=65536 -print_final_stats=1 -close_fd_mask=1)
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
if "build/fuzz/fuzz/$name" "${options[@]}" -runs=0 "${corpus[@]}" >"$logs/$name.log" 2>&1 &&
  "build/fuzz/fuzz/$name" "${options[@]}" -max_total_time="${fuzz_seconds:-5}" "${corpus[@]}" >>"$logs/$name.log" 2>&1; then
  : >"$logs/$name.ok"
  echo "$name: $count seeds, $(sed -nE 's/^stat::number_of_executed_units: *//p' "$logs/$name.log" | tail -n 1) inputs, no findings"
else
  echo "$name: FAILED"
  grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$logs/$name.log" | head -n 5 || tail -n 5 "$logs/$name.log"
fi
