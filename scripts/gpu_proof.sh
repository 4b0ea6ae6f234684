#!/usr/bin/env bash
# gpu_proof.sh: runs everything that needs an NVIDIA GPU, on a bare machine, in nine minutes.
#   scripts/gpu_proof.sh [--out FOLDER] [--gpu N] [--seconds N]   runs it; FOLDER/gpu_proof.json has every figure (default: gpu_proof)
#   scripts/gpu_proof.sh --archive FILE.tar.xz                    packs what a machine without compiler and network needs, from the
#                                                                 build: unpack it there and run its gpu_proof.sh
# Parts: doctor, nvml (telemetry), probe (peaks and bandwidths), benchmark (suite gpu through CUDA), calibrate, validate (predicted
# beside measured, of shapes that the calibration has not seen), hooks (calls of the driver without a profiler), pytorch.
# A part is "passed", "failed", or "absent" with its reason. Exit code: 0 every part passed or says why it is absent, 1 a part failed,
# 2 usage, 3 no program, 77 no NVIDIA GPU here: nothing could run.
set -uo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=gpu_proof gpu=0 seconds=540 archive=
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:?gpu_proof: --out requires a folder}; shift ;;
    --gpu) gpu=${2:?gpu_proof: --gpu requires a number}; shift ;;
    --seconds) seconds=${2:?gpu_proof: --seconds requires a number}; shift ;;
    --archive) archive=${2:?gpu_proof: --archive requires a file}; shift ;;
    *) echo "gpu_proof: unknown option '$1' (see gpu_proof.sh --help)" >&2; exit 2 ;;
  esac
  shift
done
case $gpu$seconds in *[!0-9]*) echo "gpu_proof: --gpu and --seconds are whole numbers" >&2; exit 2 ;; esac

# The program of an unpacked archive, or of the build.
if [ -x "$here/bin/aaco" ]; then
  program=$here/bin/aaco
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  program=${AACO_PROGRAM:-$here/../build/release/bin/aaco}
fi
[ -x "$program" ] || { echo "gpu_proof: $program is missing; hint: scripts/run_demo.sh builds it" >&2; exit 3; }

pack() { # the program, its own libraries, its data, and the shared libraries that it is linked to except the C library's
  local build max=62914560
  build=$(cd "$(dirname "$program")/.." && pwd)
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  mkdir -p "$stage/aaco-gpu-proof"/{bin,lib,share}
  cd "$stage/aaco-gpu-proof" || exit 1
  cp "$program" bin/
  strip bin/aaco 2>/dev/null || true
  [ ! -d "$build/lib/aaco" ] || cp -r "$build/lib/aaco" lib/
  cp -rL "$build/share/aaco" share/
  ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | while read -r library; do
    case $(basename "$library") in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.*) ;;
      *) cp -L "$library" lib/ ;;
    esac
  done
  cp "$here/gpu_proof.sh" .
  cd "$stage" || exit 1
  tar -c aaco-gpu-proof | xz -1 -T0 >"$1" || exit 1
  size=$(stat -c %s "$1")
  echo "$1: $size bytes"
  [ "$size" -le $max ] || { echo "gpu_proof: the archive is larger than $max bytes" >&2; exit 1; }
}
if [ -n "$archive" ]; then
  case $archive in /*) ;; *) archive=$PWD/$archive ;; esac
  pack "$archive"
  exit 0
fi

mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
rm -rf "${out:?}"/*.json "$out"/*.txt "$out/registry" "$out/sessions"
export AACO_REGISTRY=$out/registry AACO_SESSIONS=$out/sessions NO_COLOR=1
start=$SECONDS
names=() states=() reasons=() spans=()
left() { local rest=$((seconds - (SECONDS - start))); echo $((rest > 1 ? rest : 1)); }
quoted() { printf '%s\n' "$1" | tr '\t' ' ' | tr -d '\000-\037' | { tr -d '\n'; echo; } | sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&"/' | tr -d '\n'; }
note() { # NAME STATE REASON BEGAN
  names+=("$1") states+=("$2") reasons+=("$3") spans+=($((SECONDS - $4)))
  printf '%-10s %-7s %4d s  %s\n' "$1" "$2" $((SECONDS - $4)) "$3"
}
# run NAME SECONDS COMMAND...: its standard output to NAME.json, its standard error to NAME.txt; interrupted after that time.
run() {
  local name=$1 limit=$2 rest
  shift 2
  rest=$(left)
  timeout -s INT -k 20 $((limit < rest ? limit : rest)) "$@" >"$out/$name.json" 2>"$out/$name.txt" </dev/null
}
told() { grep -v '^ *$' "$out/$1.txt" 2>/dev/null | tail -n "${2:-3}" | cut -c 1-400; }
field() { grep -o "\"$2\": *[^,}]*" "$out/$1.json" 2>/dev/null | head -n 1 | sed 's/^[^:]*: *//; s/^"//; s/"$//'; }
# part NAME CODE [WHAT]: passed on 0, else failed with what the program said.
part() { if [ "$2" -eq 0 ]; then note "$1" passed "${3:-}" "$began"; else note "$1" failed "exit code $2: $(told "$1")" "$began"; fi; }

# A worker that opens the device and ends: is there a GPU at all?
"$program" gpu-worker --backend cuda --gpu "$gpu" </dev/null >"$out/device.json" 2>"$out/device.txt"
have_gpu=$?
device=$(field device name)
[ $have_gpu -eq 0 ] || no_gpu=$(field device error)

began=$SECONDS
run doctor 60 "$program" doctor --json
part doctor $?

began=$SECONDS
if ls /dev/nvidia[0-9]* >/dev/null 2>&1 || [ $have_gpu -eq 0 ]; then
  run nvml 60 "$program" record --json --no-report -- sleep 3
  code=$?
  run nvml_rows 60 "$program" query --json "SELECT metric, count(*) AS rows, min(value) AS lowest, avg(value) AS mean, max(value) AS highest FROM gpu_events GROUP BY 1 ORDER BY 1"
  if [ $code -ne 0 ]; then part nvml $code
  elif grep -q '"gpu\.' "$out/nvml_rows.json"; then note nvml passed "$(grep -c '"gpu\.' "$out/nvml_rows.json") metrics" "$began"
  elif [ -e /proc/driver/nvidia/version ] || ldconfig -p 2>/dev/null | grep -q libnvidia-ml; then note nvml failed "no rows of a GPU: $(told nvml)" "$began"
  else note nvml absent "libnvidia-ml.so.1 is not installed" "$began"; fi
else
  note nvml absent "no /dev/nvidia0: no NVIDIA driver is loaded" "$began"
fi

if [ $have_gpu -ne 0 ]; then
  began=$SECONDS
  for name in probe benchmark calibrate validate hooks pytorch; do note $name absent "${no_gpu:-CUDA does not start}" "$began"; done
else
  # Libraries that came with PyTorch, where none is installed.
  python=${AACO_PYTHON:-python3}
  wheels=$("$python" -c 'import nvidia, glob, os; print(":".join(f for p in nvidia.__path__ for f in glob.glob(os.path.join(p, "*", "lib"))))' 2>/dev/null)
  [ -z "$wheels" ] || export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$wheels

  began=$SECONDS
  run probe 90 "$program" hardware probe --backend cuda --gpu "$gpu" --json
  part probe $? "$device"
  cat >"$out/unseen.yaml" <<'SUITE'
schema: 1
suite: unseen
rounds: 2
visit_ms: 40
kernels:
  - {kernel: gemm, kind: gemm, dtypes: [float16, bfloat16, float32], sites: [{m: [3, 96, 768], n: 3072, k: 3072}, {m: 2048, n: 5120, k: 5120}]}
  - {kernel: elementwise, kind: vector, dtypes: [float32, float16], ops: [add, gelu], sites: [{rows: [64, 4096], cols: 4096}]}
  - {kernel: norm, kind: vector, dtypes: [float16], ops: [softmax, ln], sites: [{rows: [64, 4096], cols: 8192}]}
SUITE

  began=$SECONDS
  run benchmark 270 "$program" benchmark --suite gpu --backend cuda --gpu "$gpu" --json
  code=$?
  inapplicable=$(field benchmark not_applicable)
  part benchmark $code "$(field benchmark visits) measurements, $(field benchmark failed) of them unsupported or failed${inapplicable:+, $inapplicable cases not applicable: one GPU}"
  id=$(field benchmark device)

  began=$SECONDS
  run calibrate 60 "$program" calibrate --hardware "$id" --backend cuda --json
  part calibrate $? "$id"

  began=$SECONDS
  AACO_REGISTRY=$out/registry_unseen
  mkdir -p "$AACO_REGISTRY"
  [ ! -d "$out/registry/hardware" ] || cp -r "$out/registry/hardware" "$AACO_REGISTRY/"
  run unseen 90 "$program" benchmark --suite "$out/unseen.yaml" --backend cuda --gpu "$gpu" --no-power --json
  code=$?
  export AACO_REGISTRY=$out/registry
  if [ $code -ne 0 ]; then
    note validate failed "measuring unseen shapes: exit code $code: $(told unseen)" "$began"
  else
    run validate 60 "$program" validate --hardware "$id" --level calibrated --measurements "$out/registry_unseen/benchmarks/$id/cuda"/*.csv --residuals "$out/residuals.csv" --json
    part validate $? "predicted beside measured: residuals.csv"
  fi

  began=$SECONDS
  printf 'schema: 1\nsuite: hooked\nrounds: 1\nvisit_ms: 20\nkernels:\n  - {kernel: launch, kind: vector, ops: [launch], sites: [{rows: 1, cols: 64}]}\n  - {kernel: transfer, kind: transfer, ops: [h2d_pinned], sites: [{bytes: 1048576}]}\n' >"$out/hooked.yaml"
  AACO_REGISTRY=$out/registry_hooked run hooks 60 "$program" record --hooks --json --no-report -- "$program" benchmark --suite "$out/hooked.yaml" --backend cuda --gpu "$gpu" --no-power ${id:+--hardware "$id"} --fresh
  code=$?
  run hooks_rows 60 "$program" query --json "SELECT name, count(*) AS calls, avg(end_ns - start_ns) AS mean_ns FROM api_calls GROUP BY 1 ORDER BY 2 DESC"
  if [ $code -ne 0 ]; then part hooks $code
  elif grep -q cuLaunchKernel "$out/hooks_rows.json"; then note hooks passed "launches, copies and events of the driver were seen" "$began"
  else note hooks failed "no cuLaunchKernel among the calls: $(told hooks)" "$began"; fi

  began=$SECONDS
  if ! "$python" -c 'import torch' >/dev/null 2>&1; then
    note pytorch absent "$python has no PyTorch (AACO_PYTHON names another)" "$began"
  else
    AACO_REGISTRY=$out/registry run pytorch 90 "$program" benchmark --suite "$out/unseen.yaml" --backend pytorch-gpu --python "$python" --no-power --json ${id:+--hardware "$id"}
    part pytorch $? "$(field pytorch runtime)"
  fi
fi

document() { # a file that a part wrote, where it is JSON; else nothing
  case $(head -c 1 "$out/$1.json" 2>/dev/null) in '{' | '[') printf ',\n    "%s": ' "$1"; cat "$out/$1.json" ;; esac
}
{
  printf '{\n  "schema_version": 1,\n  "program": %s,\n  "device": %s,\n  "seconds": %d,\n  "parts": [' "$(quoted "$("$program" --version 2>/dev/null | head -n 1)")" "$(quoted "$device")" $((SECONDS - start))
  for i in "${!names[@]}"; do
    [ "$i" = 0 ] || printf ','
    printf '\n    {"part": "%s", "state": "%s", "seconds": %d, "reason": %s}' "${names[$i]}" "${states[$i]}" "${spans[$i]}" "$(quoted "${reasons[$i]}")"
  done
  printf '\n  ],\n  "figures": {\n    "schema_version": 1'
  for name in device doctor nvml_rows probe benchmark calibrate unseen validate hooks_rows pytorch; do document $name; done
  printf '\n  }\n}\n'
} >"$out/gpu_proof.json"
echo "wrote $out/gpu_proof.json ($((SECONDS - start)) s)"
case " ${states[*]} " in *" failed "*) exit 1 ;; esac
[ $have_gpu -eq 0 ] || exit 77
