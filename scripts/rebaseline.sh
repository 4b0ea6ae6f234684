#!/usr/bin/env bash
# Writes golden files and generated documents anew from what the program says now. Read the difference before committing it:
# a golden file is a claim.
#   scripts/rebaseline.sh [REGEX]      only the test programs whose name matches
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)"
AACO_REBASELINE=1 ctest --test-dir build/release ${1:+-R "$1"} --output-on-failure
git --no-pager diff --stat -- docs tests
