#!/usr/bin/env bash
# Builds the Debian packages without tests, checks them with lintian, installs them into a bare Debian 12 made for the purpose, uses them as
# an ordinary user (README's five commands, the Python module), removes them, and looks for what is left.
. "$(dirname "$0")/../lib/proof.sh" "the packages install, run and go on a bare Debian 12; lintian finds no errors" "$@"
[ "$(id -u)" = 0 ] || skip "a bare Debian needs root to be made and entered"
for tool in mmdebstrap lintian chroot; do command -v "$tool" >/dev/null || skip "$tool is missing (apt install mmdebstrap lintian)"; done
build=build/package
cmake --preset release -B "$build" -DAACO_BUILD_TESTS=OFF >"$out.build.log"
cmake --build "$build" -j "$(nproc)" >>"$out.build.log" 2>&1 || { tail -n 20 "$out.build.log"; exit 1; }
rm -f "$build"/*.deb
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$build" >>"$out.build.log" 2>&1
lintian --allow-root --tag-display-limit 0 "$build"/*.deb >"$out.lintian.txt" || true
if grep '^E:' "$out.lintian.txt"; then exit 1; fi
work=$(mktemp -d)
leave() { umount "$work/root/proc" 2>/dev/null || true; rm -rf "$work"; }
trap leave EXIT
root=$work/root
mmdebstrap --variant=apt --quiet bookworm "$root" 2>"$out.bare.log" || { tail -n 5 "$out.bare.log"; skip "no bare Debian could be made"; }
mkdir "$root/packages" && cp "$build"/*.deb "$root/packages/"
mount -t proc proc "$root/proc" 2>/dev/null || skip "/proc cannot be mounted here"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
user() { chroot --userspec=1000:1000 "$root" env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 HOME=/home/user AACO_SESSIONS=/home/user/sessions "$@"; }
files() { (cd "$root" && find etc usr opt srv lib bin sbin var/lib -xdev \( -path var/lib/dpkg -o -path var/lib/apt -o -path var/cache \) -prune -o -print | sort); }
mkdir -p "$root/home/user" && chown 1000:1000 "$root/home/user"
# What the packages stand on is installed first, so that what is left afterwards is theirs.
inside apt-get update -q >>"$out.bare.log" 2>&1
inside sh -c 'apt-get install -y -q --no-install-recommends /packages/*.deb python3-pandas' >>"$out.bare.log" 2>&1 || { tail -n 5 "$out.bare.log"; exit 1; }
inside sh -c 'dpkg --remove python3-aaco aaco-dev libaaco0 aaco-agent aaco' >>"$out.bare.log" 2>&1
inside sh -c 'dpkg --purge python3-aaco aaco-dev libaaco0 aaco-agent aaco' >>"$out.bare.log" 2>&1 || true
files >"$work/before"
inside sh -c 'apt-get install -y -q --no-install-recommends /packages/*.deb' >>"$out.bare.log" 2>&1 || { tail -n 5 "$out.bare.log"; exit 1; }
user aaco run --model squeezenet1.1 --duration 5s --telemetry --profile --tag first | head -n 3
user aaco report tag:first --html /home/user/report.html
user aaco query "SELECT op_type, count(*) AS runs FROM node_executions GROUP BY 1 ORDER BY 2 DESC LIMIT 3"
user aaco ab --duration 10s -- --model squeezenet1.1 -- --model squeezenet1.1 --graph-level disabled >"$work/ab" || [ $? = 1 ]
user aaco analyze resnet50 --hardware mi300x | head -n 3
user aaco completion bash >/dev/null
user python3 -c 'import aaco; session = aaco.open("tag:first"); print(session, len(session.table("node_executions").to_pandas())); session.to_html()'
for notebook in examples/notebooks/*.ipynb; do
  name=$(basename "$notebook" .ipynb)
  python3 -c 'import json, sys; print("\n".join("".join(c["source"]) for c in json.load(open(sys.argv[1]))["cells"] if c["cell_type"] == "code"))' "$notebook" >"$root/home/user/$name.py"
  user sh -c "mkdir -p /home/user/$name && cd /home/user/$name && python3 ../$name.py >/dev/null" || { echo "the notebook $name fails"; exit 1; }
done
inside apt-get remove -y -q --purge python3-aaco aaco-dev libaaco0 aaco-agent aaco >>"$out.bare.log" 2>&1
files >"$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep -v '^var/\(log\|cache\)\|/ld.so.cache$\|__pycache__' || true)
[ -z "$left" ] || { echo "left after apt remove:"; echo "$left"; exit 1; }
echo "$(grep -c '^W:' "$out.lintian.txt" || true) lintian warnings, no errors; five commands and the notebooks ran as an ordinary user; nothing is left after apt remove"
