#!/usr/bin/env bash
# Real PyTorch runs on the CPU whose cause is known because the program makes it: traces with a truth, for tests/corpus.
#   scripts/oracle.sh [FOLDER]         build a newer Debian with PyTorch in FOLDER (default build/oracle; 1.5 GB), run, write FOLDER/traces
#   scripts/oracle.sh --clean [FOLDER] remove it
# By choice only: neither the tests nor the demo need it. Needs root, mmdebstrap and a Debian mirror (AACO_DEBIAN_MIRROR; default: mmdebstrap's);
# AACO_DEBIAN_SUITE names the suite (forky). Takes about five minutes. Exit code: 0 traces written, 2 usage, 3 cannot be built here.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
clean=
case ${1:-} in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  --clean) clean=1; shift ;;
  -*) echo "oracle: unknown option '$1' (see scripts/oracle.sh --help)" >&2; exit 2 ;;
esac
folder=$(realpath -m "${1:-$top/build/oracle}")
root=$folder/root

unmount() { ! mountpoint -q "$root/proc" || umount "$root/proc"; }
trap unmount EXIT
if [ -n "$clean" ]; then
  unmount
  rm -rf --one-file-system "$root" "$folder/traces"
  exit 0
fi
[ "$(id -u)" = 0 ] || { echo "oracle: needs root (chroot); hint: sudo scripts/oracle.sh" >&2; exit 3; }
command -v mmdebstrap >/dev/null || { echo "oracle: mmdebstrap is missing; hint: apt-get install mmdebstrap" >&2; exit 3; }

mkdir -p "$folder"
if [ ! -e "$root/.ready" ]; then
  rm -rf --one-file-system "$root"
  mmdebstrap --variant=minbase --mode=root --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='APT::Install-Recommends "false"' \
    --include=ca-certificates,python3,python3-torch,python3-numpy "${AACO_DEBIAN_SUITE:-forky}" "$root" ${AACO_DEBIAN_MIRROR:+"$AACO_DEBIAN_MIRROR"} \
    >"$folder/mmdebstrap.log" 2>&1 || { tail -n 5 "$folder/mmdebstrap.log" >&2; echo "oracle: the suite cannot be built here" >&2; exit 3; }
  rm -rf "$root/var/cache/apt/archives" "$root/usr/share/doc"
  touch "$root/.ready"
fi
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
rm -rf "$folder/traces" "$root/oracle"
mkdir -p "$folder/traces" "$root/oracle"
cp "$top/scripts/parts/oracle_runs.py" "$root/oracle/"
chroot "$root" env USE_LIBUV=0 OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 /oracle/oracle_runs.py /oracle/traces
cp "$root"/oracle/traces/*.json.gz "$folder/traces/"
ls -l "$folder/traces"
