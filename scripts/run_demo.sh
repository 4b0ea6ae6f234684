#!/usr/bin/env bash
# Builds the program, runs ResNet-50 and a small decoder on this machine's CPU, and shows what was found.
#   scripts/run_demo.sh            sessions go to ./sessions, or to $AACO_SESSIONS
# Takes about 14 minutes from nothing on two cores (nearly all of it the build), half a minute after that. Builds the program
# and its report page only: no tests, no checks.
set -euo pipefail
case ${1:-} in
  '') ;;
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "run_demo: unexpected argument '$1' (see scripts/run_demo.sh --help)" >&2; exit 2 ;;
esac
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
aaco=$top/build/release/bin/aaco
here=$PWD
step() { printf '\n== %s\n' "$1"; }

if [ -x "$aaco" ]; then length="half a minute, plus the build of what has changed"; else length="about 14 minutes on two cores, most of it the build"; fi
cat <<TEXT
This builds AACO and measures two models on the CPU of this machine. It takes $length.
  1 of 4  set-up            Debian packages and prebuilt libraries, if any are missing
  2 of 4  build             the program and its report page, without tests
  3 of 4  ResNet-50         8 s measured, with telemetry and a profiled pass
  4 of 4  a small decoder   4 s measured, likewise
TEXT

step "1 of 4: set-up"
cd "$top"
scripts/bootstrap.sh --product

step "2 of 4: build"
# Tests stay configured where they are; a fresh tree is configured without them. Each configures itself as it needs.
tests=OFF
! grep -qs '^AACO_BUILD_TESTS:BOOL=ON' build/release/CMakeCache.txt || tests=ON
cmake --preset release -DAACO_BUILD_TESTS=$tests >/dev/null
# Prints how far the build is every ten seconds, and whatever else ninja says.
progress() {
  local line mark finished all seconds shown=0 left
  while IFS= read -r line; do
    case $line in
      '@ '*)
        read -r mark finished all seconds _ <<<"$line"
        seconds=${seconds%.*}
        if [ "$finished" = "$all" ]; then echo "build: $all of $all steps"
        elif [ $((seconds - shown)) -ge 10 ]; then
          shown=$seconds left=$((seconds * (all - finished) / finished))
          echo "build: $finished of $all steps, about $((left / 60)) min $((left % 60)) s left"
        fi ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}
NINJA_STATUS='@ %f %t %e ' cmake --build --preset release --target aaco_product -j "$(nproc)" | progress
cd "$here"

# member FILE KEY...: a member of a JSON document, read with python3, which the set-up installs.
member() { python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]: value = value[key]
print(value)' "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step "3 of 4: ResNet-50, with telemetry and a profiled pass"
"$aaco" run --model resnet50 --backend cpu --batch 1 --telemetry --profile --duration 8s --tag demo-resnet50
step "4 of 4: a small decoder with a KV cache"
"$aaco" run --model llama-15m --backend cpu --batch 1 --telemetry --profile --duration 4s --tag demo-decoder --json >"$work/decoder.json"
bundle=$(member "$work/decoder.json" session path)
resnet=$("$aaco" show tag:demo-resnet50 --json >"$work/resnet.json" && member "$work/resnet.json" session path)

step "done"
cat <<TEXT
sessions  $resnet
          $bundle
reports   $resnet/report/report.html
          $bundle/report/report.html        (one file each; open it in a browser)

$("$aaco" report tag:demo-resnet50 | sed -n '2,9p')

$("$aaco" report tag:demo-decoder | sed -n '2,9p')

Try next, with $aaco
  aaco report tag:demo-resnet50                                    where the time went, in the terminal
  aaco query "SELECT op_type, sum(duration_ns)/1e6 AS ms FROM node_executions GROUP BY 1 ORDER BY 2 DESC LIMIT 10"
  aaco export tag:demo-resnet50 --format perfetto                  the timeline, for the Perfetto viewer
  aaco run path/to/your.onnx --telemetry --profile                 your own model
  aaco record -- python3 serve.py                                  any other program
  aaco doctor                                                      what this machine cannot measure, and the remedy
TEXT
