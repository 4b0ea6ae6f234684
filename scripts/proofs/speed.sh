#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "speed of import, store, graphs, estimates and change points; the cost of measuring (30 min)" "$@"
need_program
need_bench
run() { printf '\n-- %s\n' "$*"; "$@"; }
for name in import_speed rocm_import_speed import_session store_speed graph_speed changepoint_speed analyze_speed collector_cost; do
  run "build/bench/bench/$name" || { echo "$name failed"; exit 1; }
done
run build/bench/bench/ebpf_cost || echo "ebpf_cost: not on this machine"
if "$program" zoo make mobilenetv2 --output "$out.onnx" >/dev/null 2>&1 && [ -x build/bench/bench/run_cost ]; then
  library=build/bench/lib/libonnxruntime.so.1
  [ -e "$library" ] || library=${XDG_CACHE_HOME:-$HOME/.cache}/aaco/parts/onnxruntime/lib/libonnxruntime.so.1
  for mode in loop telemetry; do run build/bench/bench/run_cost "$mode" "$out.onnx" "$library" 60; done
fi
echo "speed: measured; the targets are in docs/results.md"
