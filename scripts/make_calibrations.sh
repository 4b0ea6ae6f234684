#!/usr/bin/env bash
# Fits the calibrations that are shipped (data/calibration) to the measurements in $AACO_REAL_DATA/estimation (default: ../shared/data).
# The same rows, program and processor give the same files, byte for byte. Prints their hashes for data/calibration/SHA256SUMS.
#   scripts/make_calibrations.sh [--check] [DEVICE...]
# --check writes nothing and compares with what is there. Without the measurements nothing is done.
set -euo pipefail
case ${1:-} in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
check=no
if [ "${1:-}" = --check ]; then check=yes; shift; fi
case ${1:-} in
  -*) echo "make_calibrations: unknown option '$1' (see scripts/make_calibrations.sh --help)" >&2; exit 2 ;;
esac
program=${AACO_PROGRAM:-build/release/bin/aaco}
rows=${AACO_REAL_DATA:-../shared/data}/estimation
if [ ! -d "$rows" ]; then echo "skipped, no real data in $rows"; exit 0; fi
if [ ! -x "$program" ]; then echo "make_calibrations: no program at $program: build it first" >&2; exit 1; fi
out=data/calibration
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

aiconfigurator='Apache-2.0: ai-dynamo/aiconfigurator 095f58a51c4c'
aiter='MIT: ROCm/aiter e4048607a535'
miopen='MIT: ROCm/MIOpen find-db'
neusight='MIT: sitar-lab/NeuSight'
vidur='MIT: microsoft/vidur 7d47513363ec (bounds)'
# What other laboratories add to the bounds, where only one measured a device: docs/estimation.md, "Other laboratories".
elsewhere=(--elsewhere-term 0.3)

# Device and options of 'aaco calibrate'.
fit() {
  local device=$1
  shift
  if [ ${#only[@]} -gt 0 ] && [[ " ${only[*]} " != *" $device "* ]]; then return; fi
  echo "fitting $device" >&2
  AACO_REGISTRY=$work/registry AACO_CALIBRATIONS=$work/none SOURCE_DATE_EPOCH=1764547200 \
    "$program" calibrate --hardware "$device" --compact --output "$work" --json "$@" > "$work/$device.json"
}

only=("$@")
# Kernels of serving stacks; collectives of one laboratory (the other's have another floor and other sizes).
stacks=(--measurements "$work/collectives.csv")
for table in attention_decode attention_prefill mla moe; do stacks+=(--measurements "$rows/$table.csv.gz"); done
zcat "$rows/collectives.csv.gz" | grep -v '^[^,]*,vidur' > "$work/collectives.csv"
fit nvidia_a100_sxm4_80gb --measurements "$rows/gemm.csv.gz" "${stacks[@]}" --elsewhere "$rows/second_laboratory.csv.gz" "${elsewhere[@]}" \
  --licence "$aiconfigurator" --licence "$vidur"
fit nvidia_h100_sxm5_80gb --measurements "$rows/gemm.csv.gz" --measurements "$rows/attention.csv.gz" --licence "$aiconfigurator" "${elsewhere[@]}"
fit nvidia_h200_sxm5_141gb --measurements "$rows/gemm.csv.gz" "${stacks[@]}" --licence "$aiconfigurator" "${elsewhere[@]}"
fit amd_instinct_mi300x_192gb --measurements "$rows/gemm.csv.gz" --licence "$aiter" "${elsewhere[@]}"
fit amd_instinct_mi308x_192gb --measurements "$rows/gemm.csv.gz" --licence "$aiter" "${elsewhere[@]}"
fit amd_instinct_mi100_32gb --measurements "$rows/gemm.csv.gz" --measurements "$rows/conv2d.csv.gz" --measurements "$rows/vector.csv.gz" \
  --licence "$neusight" --licence "$miopen" "${elsewhere[@]}"
fit amd_instinct_mi210_64gb --measurements "$rows/conv2d.csv.gz" --licence "$miopen" "${elsewhere[@]}"

limit=300000
status=0
for made in "$work"/*.calibration; do
  name=$(basename "$made")
  bytes=$(stat -c %s "$made")
  if [ "$bytes" -gt "$limit" ]; then echo "make_calibrations: $name has $bytes bytes, more than $limit" >&2; status=1; fi
  if [ $check = yes ]; then
    cmp "$made" "$out/$name" || status=1
  else
    cp "$made" "$out/$name"
  fi
done
if [ $check = no ]; then (cd $out && sha256sum -- *.calibration > SHA256SUMS && cat SHA256SUMS); fi
exit $status
