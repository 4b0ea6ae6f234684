#!/usr/bin/env bash
# Builds the Debian packages, unpacks them into an empty root, and runs the program from there.
#   scripts/lib/check_package.sh BUILD_FOLDER
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
build=$1
command -v dpkg-deb >/dev/null || { echo "skipped, dpkg-deb is missing"; exit 77; }
rm -f "$build"/*.deb
(cd "$build" && cpack -G DEB >/dev/null)
root=$(mktemp -d)
trap 'rm -rf "$root" "$root.agent"' EXIT
for package in "$build"/*.deb; do
  dpkg-deb -x "$package" "$root"
  dpkg-deb -f "$package" Package Version Depends
done
cd / # not the tree: the program must find everything beside itself
program=$root/usr/bin/aaco
unresolved=$(ldd "$program" | grep 'not found' || true)
[ -z "$unresolved" ] || { echo "the packaged program lacks libraries: $unresolved"; exit 1; }
packaged() { # the program, in an empty home
  env -u AACO_SHARE -u AACO_ORT_LIBRARY HOME="$root/home" XDG_CACHE_HOME="$root/cache" AACO_SESSIONS="$root/sessions" "$program" "$@"
}
packaged --version
packaged doctor | grep -q "$root/usr/lib/aaco/libonnxruntime" || { echo "the program does not find the packaged ONNX Runtime"; exit 1; }
packaged run mlp --warmup 2 --iterations 40 --json | python3 -c '
import json, pathlib, sys
answer = json.load(sys.stdin)
assert answer["metrics"]["latency.count"]["value"] == 40, answer["metrics"]
assert pathlib.Path(answer["session"]["path"], "report/report.html").is_file(), "the packaged page is missing"
'
for file in share/man/man1/aaco.1.gz share/man/man1/aaco-record.1.gz share/bash-completion/completions/aaco \
  share/zsh/vendor-completions/_aaco share/fish/vendor_completions.d/aaco.fish share/doc/aaco/copyright share/doc/aaco/NOTICE share/doc/aaco/third_party_licences.txt \
  share/doc/aaco/sbom.spdx.json share/doc/libaaco0/copyright share/doc/aaco-agent/copyright share/man/man1/aaco-agent.1.gz lib/systemd/system/aaco-agent.service lib/systemd/user/aaco-serve.service \
  share/aaco/data/calibration/SHA256SUMS lib/cmake/aaco/aaco-config.cmake include/aaco/core/result.h; do
  [ -s "$root/usr/$file" ] || { echo "usr/$file is not in the packages"; exit 1; }
done
agent=$root.agent # alone, as on a node of a fleet
dpkg-deb -x "$build"/aaco-agent_*.deb "$agent"
env -u AACO_SHARE HOME="$root/home" "$agent/usr/bin/aaco-agent" --to clickhouse://127.0.0.1:1/nothing --spool "$root/spool" --duration 2s
env -u AACO_SHARE HOME="$root/home" "$agent/usr/bin/aaco-agent" --spool "$root/spool" --status | python3 -c '
import json, sys
answer = json.load(sys.stdin)
assert answer["cost"]["samples"] >= 2, answer
'
if [ -e "$root/usr/lib/python3/dist-packages/aaco" ]; then
  env -u AACO_SHARE PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/usr/lib/python3/dist-packages" AACO_SESSIONS="$root/sessions" /usr/bin/python3 -c '
import aaco
session = aaco.open()
assert session.metrics["latency.count"].value == 40
assert len(session.table("inference_iters")) >= 40
assert aaco.run("mlp", warmup=2, iterations=20).kind == "run"
'
fi
echo "packages: complete, and the program in them runs"
