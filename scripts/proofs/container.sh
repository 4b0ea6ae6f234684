#!/usr/bin/env bash
# Builds the CPU image without a daemon (buildah, chroot isolation) on a bootstrapped Debian 12, and runs `aaco run` in it. Needs the packages
# that scripts/proofs/debian_packages.sh builds.
. "$(dirname "$0")/../lib/proof.sh" "the CPU image builds without a daemon and runs a model" "$@"
[ "$(id -u)" = 0 ] || skip "a bare Debian needs root to be made"
for tool in mmdebstrap buildah; do command -v "$tool" >/dev/null || skip "$tool is missing (scripts/bootstrap.sh --proofs)"; done
ls build/package/aaco_*.deb >/dev/null 2>&1 || skip "no packages in build/package; scripts/proofs/debian_packages.sh builds them"
work=$(mktemp -d)
storage=(--root "$work/storage" --runroot "$work/run" --storage-driver vfs)
leave() { buildah "${storage[@]}" rm --all >/dev/null 2>&1 || true; rm -rf "$work"; }
trap leave EXIT
mkdir "$work/bare"
mmdebstrap --variant=apt --quiet bookworm "$work/bare.tar" 2>"$out.bare.log" || { tail -n 5 "$out.bare.log"; skip "no bare Debian could be made"; }
printf 'FROM scratch\nADD bare.tar /\n' >"$work/Dockerfile"
buildah "${storage[@]}" bud --isolation chroot -q -t bare -f "$work/Dockerfile" "$work" >"$out.build.log" 2>&1 || { tail -n 5 "$out.build.log"; skip "buildah cannot build here"; }
buildah "${storage[@]}" bud --isolation chroot --network host --build-arg BASE=localhost/bare -t aaco -f packaging/containers/package.Dockerfile \
  build/package >>"$out.build.log" 2>&1 || { tail -n 10 "$out.build.log"; exit 1; }
container=$(buildah "${storage[@]}" from localhost/aaco)
buildah "${storage[@]}" run --isolation chroot "$container" -- aaco run --model squeezenet1.1 --duration 3s | tee "$out.run.txt" | head -n 3
grep -q 'Median latency' "$out.run.txt"
buildah "${storage[@]}" run --isolation chroot "$container" -- python3 -c 'import aaco; print(aaco.open())'
echo "the image of $(du -sm "$(buildah "${storage[@]}" mount "$container")" | cut -f1) MB runs a model as user aaco"
