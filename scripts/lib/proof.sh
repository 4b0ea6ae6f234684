#!/usr/bin/env bash
# What the proofs in scripts/proofs/ share; they source it with their one-line description.
#   . scripts/lib/proof.sh "DESCRIPTION" "$@"
# Answers --describe and --help, changes to the top of the tree, and defines: out (prefix of the files to write), program, skip, need.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
describe=$1
shift
case ${1:-} in
  '') ;;
  --describe) echo "$describe"; exit 0 ;;
  -h | --help) printf '%s: %s\nRun by scripts/run_proofs.sh; writes to $AACO_PROOF_OUT.txt.\n' "$(basename "$0")" "$describe"; exit 0 ;;
  *) echo "$(basename "$0"): unknown option '$1'" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${AACO_PROOF_OUT:-build/proofs/$(basename "${0%.*}")}
commit=${AACO_PROOF_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)}
program=${AACO_PROGRAM:-$PWD/build/release/bin/aaco}
data=${AACO_REAL_DATA:-$PWD/../shared/data}
mkdir -p "$(dirname "$out")"
export AACO_PROGRAM=$program

skip() { echo "skipped, $1"; exit 77; }
need_program() { [ -x "$program" ] || { echo "$program is missing; hint: scripts/run_demo.sh builds it"; exit 3; }; }
need_data() { [ -d "$data/$1" ] || skip "no real data at $data/$1 (AACO_REAL_DATA names the folder)"; }
need_bench() { # builds the benchmarks beside the release build
  cmake --preset release -B build/bench -DAACO_BUILD_BENCH=ON -DAACO_BUILD_TESTS=OFF >/dev/null
  cmake --build build/bench -j "$(nproc)" >"$out.build.log" 2>&1 || { tail -n 20 "$out.build.log"; exit 1; }
}
