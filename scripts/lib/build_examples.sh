#!/usr/bin/env bash
# Builds examples/ against an installed AACO, as a user would, and runs each.
#   scripts/lib/build_examples.sh PREFIX BUILD_FOLDER
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
prefix=$1 build=$2
rm -rf "$build"
cmake -S examples -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure
