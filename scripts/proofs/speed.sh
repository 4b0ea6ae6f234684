#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "speed of import, store, graphs, estimates and change points; the cost of measuring (30 min)" "$@"
need_program
need_bench
run() { printf '\n-- %s\n' "$*"; "$@"; }
for name in import_speed rocm_import_speed import_session store_speed graph_speed changepoint_speed analyze_speed collector_cost; do
  run "build/bench/bench/$name" || { echo "$name failed"; exit 1; }
done
run build/bench/bench/ebpf_cost || echo "ebpf_cost: not on this machine"
model=$("$program" zoo make mobilenetv2 | tail -n 1)
library=${AACO_ORT_LIBRARY:-${XDG_CACHE_HOME:-$HOME/.cache}/aaco/parts/onnxruntime/lib/libonnxruntime.so.1}
if [ -x build/bench/bench/run_cost ] && [ -e "$library" ]; then
  for mode in loop telemetry; do run build/bench/bench/run_cost "$mode" "$model" "$library" 60; done
else
  echo "run_cost: no ONNX Runtime library at $library"
fi
echo "speed: measured; the targets are in docs/results.md"
