#!/usr/bin/env bash
# Rewrites golden files and generated documents from the program's current output. Read the diff before you commit it:
# a golden file is a claim.
#   scripts/rebaseline.sh [REGEX]      only the test programs whose name matches
set -euo pipefail
case ${1:-} in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  -*) echo "rebaseline: unknown option '$1' (see scripts/rebaseline.sh --help)" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)"
AACO_REBASELINE=1 ctest --test-dir build/release ${1:+-R "$1"} --output-on-failure
tools/make_reference build/release/bin/aaco docs/reference/cli.md
git --no-pager diff --stat -- docs tests
