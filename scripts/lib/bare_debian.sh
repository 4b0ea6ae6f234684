#!/usr/bin/env bash
# A bare Debian in a folder, in which the packages are tried as a user gets them. Sourced after proof.sh.
#   make_bare SUITE [PACKAGE...]    makes $root; skips the proof where it cannot be made
#   inside COMMAND...               runs as root in it; user COMMAND... as an ordinary user
#   try_packages ALSO               installs $root/packages/*.deb, uses them, runs ALSO, removes them; fails where one is wrong or something is left
#   install_pytorch         before try_packages, so that it does not count as left by them; torch, a part of ALSO, then profiles with it;
#                           $pytorch says what came of it
names="python3-aaco aaco-dev libaaco0 aaco-agent aaco"

make_bare() {
  local suite=$1 tool
  shift
  [ "$(id -u)" = 0 ] || skip "a bare Debian needs root to be made and entered"
  for tool in mmdebstrap chroot; do command -v "$tool" >/dev/null || skip "$tool is missing (apt install mmdebstrap)"; done
  work=$(mktemp -d)
  root=$work/root
  trap leave_bare EXIT
  # shellcheck disable=SC2154
  mmdebstrap --variant=apt --quiet --aptopt='Acquire::Check-Valid-Until "false"' --include="$(IFS=,; echo "ca-certificates $*" | tr ' ' ',')" "$suite" "$root" \
    2>"$out.bare.log" || { tail -n 5 "$out.bare.log"; skip "no bare Debian of the suite $suite could be made"; }
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  mkdir -p "$root/packages" "$root/home/user" && chown 1000:1000 "$root/home/user"
  mount -t proc proc "$root/proc" 2>/dev/null || skip "/proc cannot be mounted here"
}
leave_bare() { umount "$root/proc" 2>/dev/null || true; rm -rf "$work"; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
user() { chroot --userspec=1000:1000 "$root" env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 HOME=/home/user AACO_SESSIONS=/home/user/sessions "$@"; }
installed_files() { (cd "$root" && find etc usr opt srv lib bin sbin var/lib -xdev \( -path var/lib/dpkg -o -path var/lib/apt -o -path var/cache \) -prune -o -print | sort); }
install_packages() { inside sh -c 'apt-get install -y -q --no-install-recommends /packages/*.deb' >>"$out.bare.log" 2>&1 || { tail -n 5 "$out.bare.log"; exit 1; }; }

install_pytorch() {
  pytorch=
  inside apt-get update -q >>"$out.bare.log" 2>&1
  inside apt-get install -y -q --no-install-recommends python3-torch >>"$out.bare.log" 2>&1 || pytorch="PyTorch cannot be installed here"
}
torch() {
  [ -z "$pytorch" ] || return 0
  cp scripts/lib/profile_torch.py "$root/home/user/"
  user python3 /home/user/profile_torch.py | tee "$work/torch"
  pytorch=$(tail -n 1 "$work/torch")
}

try_packages() {
  local notebook name left
  inside apt-get update -q >>"$out.bare.log" 2>&1
  # What the packages depend on is installed first, so that what is left afterwards is theirs.
  install_packages
  inside apt-get install -y -q --no-install-recommends python3-pandas >>"$out.bare.log" 2>&1
  # shellcheck disable=SC2086
  inside dpkg --purge $names >>"$out.bare.log" 2>&1
  installed_files >"$work/before"
  install_packages
  user aaco run --model squeezenet1.1 --duration 5s --telemetry --profile --tag first | head -n 3
  user aaco report tag:first --html /home/user/report.html
  user aaco query "SELECT op_type, count(*) AS runs FROM node_executions GROUP BY 1 ORDER BY 2 DESC LIMIT 3"
  user aaco ab --duration 10s -- --model squeezenet1.1 -- --model squeezenet1.1 --graph-level disabled >"$work/ab" || [ $? = 1 ]
  user aaco analyze resnet50 --hardware mi300x | head -n 3
  user aaco completion bash >/dev/null
  user aaco-agent --to clickhouse://127.0.0.1:1/nothing --spool /home/user/spool --duration 2s
  user python3 -c 'import aaco; session = aaco.open("tag:first"); print(session, len(session.table("node_executions").to_pandas())); session.to_html()'
  for notebook in examples/notebooks/*.ipynb; do
    name=$(basename "$notebook" .ipynb)
    python3 -c 'import json, sys; print("\n".join("".join(c["source"]) for c in json.load(open(sys.argv[1]))["cells"] if c["cell_type"] == "code"))' "$notebook" >"$root/home/user/$name.py"
    user sh -c "mkdir -p /home/user/$name && cd /home/user/$name && python3 ../$name.py >/dev/null" || { echo "the notebook $name fails"; exit 1; }
  done
  "$1"
  # shellcheck disable=SC2086
  inside apt-get remove -y -q --purge $names >>"$out.bare.log" 2>&1
  installed_files >"$work/after"
  left=$(comm -13 "$work/before" "$work/after" | grep -v '^var/\(log\|cache\)\|/ld.so.cache$\|__pycache__' || true)
  [ -z "$left" ] || { echo "left after apt remove:"; echo "$left"; exit 1; }
}
