#!/usr/bin/env bash
# Builds the program, runs ResNet-50 and a small decoder on this machine's CPU, and says where the evidence lies.
#   scripts/run_demo.sh            sessions go to ./sessions, or to $AACO_SESSIONS
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
aaco=$top/build/release/bin/aaco
here=$PWD
step() { printf '\n== %s\n' "$1"; }

step "set-up"
cd "$top"
scripts/bootstrap.sh
step "build (the program and its page, no tests)"
cmake --preset release >/dev/null
cmake --build --preset release --target aaco_product -j "$(nproc)"
cd "$here"

# member FILE KEY...: a member of a JSON document, by python3, which the set-up installs.
member() { python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]: value = value[key]
print(value)' "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step "run: ResNet-50, with telemetry and a profiled pass"
"$aaco" run --model resnet50 --backend cpu --batch 1 --telemetry --profile --duration 8s --tag demo-resnet50
step "run: a small decoder with a KV cache"
"$aaco" run --model llama-15m --backend cpu --batch 1 --telemetry --profile --duration 4s --tag demo-decoder --json >"$work/decoder.json"
bundle=$(member "$work/decoder.json" session path)

resnet=$("$aaco" show tag:demo-resnet50 --json >"$work/resnet.json" && member "$work/resnet.json" session path)
export_line=
! "$aaco" --help | grep -q '^  export ' || export_line="  aaco export tag:demo-resnet50 --format perfetto                  the timeline, for Perfetto's viewer
"
step "done"
cat <<TEXT
bundles   $resnet
          $bundle
reports   $resnet/report/report.html
          $bundle/report/report.html        (one file each; open it in a browser)

$("$aaco" report tag:demo-resnet50 | sed -n '2,9p')

$("$aaco" report tag:demo-decoder | sed -n '2,9p')

what to look at next, with $aaco
  aaco report tag:demo-resnet50                                    where the time went, in the terminal
  aaco query "SELECT op_type, sum(duration_ns)/1e6 AS ms FROM node_executions GROUP BY 1 ORDER BY 2 DESC LIMIT 10"
$export_line  aaco run path/to/your.onnx --telemetry --profile                 your own model
  aaco record -- python3 serve.py                                  any other program
  aaco doctor                                                      what this machine cannot show, and the remedy
TEXT
