#!/usr/bin/env bash
# Sets up a Debian 12 machine for building, testing and running AACO. Running it again takes a second.
#   scripts/bootstrap.sh             everything
#   scripts/bootstrap.sh --product   only what the program itself needs (no Python module, test libraries, browser or linters)
#   scripts/bootstrap.sh --print     print the missing Debian packages; install nothing
#   scripts/bootstrap.sh --ort-providers   fetch ONNX Runtime with DNNL and XNNPACK of a newer Debian suite; nothing else
#   scripts/bootstrap.sh --ort-versions    fetch ONNX Runtime 1.17, 1.20 and 1.22 of the npm registry; nothing else
#   scripts/bootstrap.sh --chdb      fetch ClickHouse 26.7 as a library (570 MB) for the tests that use it; nothing else
#   scripts/bootstrap.sh --llama     fetch a llama.cpp server of a newer Debian suite for the tests that use one; nothing else
#   scripts/bootstrap.sh --proofs    install what proofs of the kernel module and of containers need (QEMU, sparse, mmdebstrap, buildah); nothing else
# Debian packages are installed by name (scripts/parts/packages.txt). Prebuilt libraries are fetched by name, version
# and hash (scripts/parts/parts.txt, parts.sha256) into a cache outside the tree.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/aaco
parts=$cache/parts
list=$top/scripts/parts
. "$top/scripts/lib/debian_suite.sh"

say() { printf 'bootstrap: %s\n' "$*" >&2; }
fail() { say "$1"; say "hint: $2"; exit 3; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "'$1' needs root and there is no sudo" "run as root: $*"; fi
}

left_out=proofs:     # an expression: lines of packages.txt
wants_npm=1

debian_packages() {
  sed -nE "/^($left_out)/d;s/^[a-z]*: *//p" "$list/packages.txt" | tr ' ' '\n' | sed '/^$/d'
}

missing_packages() {
  local name
  debian_packages | while read -r name; do
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
  done
  [ -z "$wants_npm" ] || command -v npm >/dev/null || printf 'nodejs\nnpm\n'
}

install_packages() {
  command -v apt-get >/dev/null ||
    fail "this is not a Debian-like system (no apt-get)" "install the packages of scripts/parts/packages.txt yourself, then see README.md, 'Other systems'"
  local wanted; wanted=$(missing_packages | tr '\n' ' ')
  [ -z "${wanted// /}" ] && return
  say "installing Debian packages: $wanted"
  as_root apt-get update -q >&2
  local ended=0
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT # an interruption does not leave it behind
    printf '#!/bin/sh\nexit 101\n' | as_root install -m 755 /dev/stdin /usr/sbin/policy-rc.d
  fi
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $wanted >&2 || ended=$?
  [ -z "$(trap -p EXIT)" ] || { as_root rm -f /usr/sbin/policy-rc.d; trap - EXIT; }
  [ "$ended" = 0 ] || fail "apt-get install failed" "see its message above, then run this again"
  # shellcheck disable=SC2086
  keep_services_off $wanted
}

# The tests start their own ClickHouse, Prometheus and Alertmanager: the services of these packages neither start now (policy-rc.d) nor with
# the machine.
keep_services_off() { # PACKAGE...
  command -v systemctl >/dev/null || return 0
  local unit
  { dpkg -L "$@" 2>/dev/null || true; } | sed -nE 's,^(/usr)?/lib/systemd/system/([^/@]+\.service)$,\2,p' | sort -u | while read -r unit; do
    as_root systemctl --quiet disable "$unit" </dev/null || say "$unit could not be disabled; it starts with the machine"
  done
}

parts_complete() { [ -d "$parts" ] && (cd "$parts" && sha256sum --quiet --check "$list/parts.sha256" >/dev/null 2>&1); }

# The ONNX Runtime C header is in a newer Debian suite; it is unpacked, never installed into the system.
fetch_header() {
  local work=$1
  debian_suite trixie "$work" ||
    fail "no Debian 12 source was found among this machine's apt sources" "copy onnxruntime_c_api.h to $parts/onnxruntime/include by hand"
  fetch_packages "$work" libonnxruntime-dev ||
    fail "libonnxruntime-dev could not be downloaded" "check the network and the apt sources, then run this again"
  dpkg -x "$work"/libonnxruntime-dev_*.deb "$work/header"
  install -D -m 644 "$work/header/usr/include/onnxruntime/onnxruntime_c_api.h" "$work/parts/onnxruntime/include/onnxruntime_c_api.h"
}

# By choice: a real llama.cpp server with its own C library, for tests/integration/llama_server_test.py and scripts/proofs/llm_server.py.
# The suite rolls, so the versions are not fixed; versions.txt beside the server lists them.
fetch_llama() {
  local to=$cache/llama suite names work
  [ ! -f "$to/versions.txt" ] || { say "the llama.cpp server is in $to"; return; }
  read -r _ suite names < <(grep '^apt ' "$list/parts.txt")
  mkdir -p "$cache" && work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work"' RETURN
  debian_suite "$suite" "$work" || fail "no Debian 12 source was found among this machine's apt sources" "the tests skip the llama.cpp server without it"
  # shellcheck disable=SC2086
  fetch_packages "$work" $names || fail "$names of Debian $suite could not be downloaded" "check the network and the apt sources, then run this again"
  local package
  for package in "$work"/*.deb; do
    dpkg -x "$package" "$work/llama"
    dpkg-deb -W --showformat='${Package} ${Version}\n' "$package"
  done >"$work/versions.txt"
  mv "$work/versions.txt" "$work/llama/" && rm -rf "$to" && mv "$work/llama" "$to"
  say "the llama.cpp server is in $to"
}

# By choice: a build of ONNX Runtime with its own C library, for `aaco run --backend dnnl`. The suite rolls; versions.txt lists the versions.
fetch_ort_providers() {
  local to=$cache/onnxruntime/providers suite names work package lib
  [ ! -f "$to/versions.txt" ] || { say "ONNX Runtime with DNNL and XNNPACK is in $to"; return; }
  read -r _ suite names < <(grep '^apt-ort ' "$list/parts.txt")
  mkdir -p "$cache/onnxruntime" && work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work"' RETURN
  debian_suite "$suite" "$work" || fail "no Debian 12 source was found among this machine's apt sources" "the backends dnnl and xnnpack require this build"
  # shellcheck disable=SC2086
  fetch_with_dependencies "$work" $names || fail "$names of Debian $suite could not be downloaded" "check the network and the apt sources, then run this again"
  for package in "$work"/*.deb; do
    dpkg -x "$package" "$work/build"
    dpkg-deb -W --showformat='${Package} ${Version}\n' "$package"
  done >"$work/versions.txt"
  lib=$(cd "$work/build" && echo usr/lib/*-linux-gnu)
  ln -s "$(cd "$work/build/$lib" && ls libonnxruntime.so.1.* | tail -n 1)" "$work/build/$lib/libonnxruntime.so.1"
  ln -s "$lib" "$work/build/lib"
  mv "$work/versions.txt" "$work/build/" && rm -rf "$to" && mv "$work/build" "$to"
  say "ONNX Runtime with DNNL and XNNPACK is in $to"
}

# By choice: other versions of ONNX Runtime, for `aaco compiler --against 1.20.1` and `--ort-lib 1.20.1`.
fetch_ort_versions() {
  local work; mkdir -p "$cache/onnxruntime" && work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work"' RETURN
  local kind name file version
  while read -r kind name file version; do
    [ "$kind" = npm-ort ] || continue
    [ ! -f "$cache/onnxruntime/$version/lib/libonnxruntime.so.1" ] || continue
    fetch_npm_file "$work" "$name" "$file" "$work/$version/lib/libonnxruntime.so.1"
    (cd "$work/$version/lib" && grep " onnxruntime-$version/" "$list/parts_by_choice.sha256" | sed "s,onnxruntime-$version/,," | sha256sum --quiet --check >&2) ||
      fail "ONNX Runtime $version does not have the expected hash" "do not use it; if you changed the version on purpose, update scripts/parts/parts_by_choice.sha256"
    rm -rf "$cache/onnxruntime/$version" && mv "$work/$version" "$cache/onnxruntime/$version"
  done <"$list/parts.txt"
  say "ONNX Runtime in further versions is in $cache/onnxruntime"
}

# By choice: a newer ClickHouse, for tests/integration/chdb_server.py.
fetch_chdb() {
  local to=$cache/chdb name file work
  [ ! -f "$to/libchdb.so" ] || { say "libchdb is in $to"; return; }
  read -r _ name file _ < <(grep '^npm-chdb ' "$list/parts.txt")
  mkdir -p "$cache" && work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work"' RETURN
  fetch_npm_file "$work" "$name" "$file" "$work/chdb/$file"
  (cd "$work" && grep ' chdb/' "$list/parts_by_choice.sha256" | sha256sum --quiet --check >&2) ||
    fail "libchdb does not have the expected hash" "do not use it; if you changed the version on purpose, update scripts/parts/parts_by_choice.sha256"
  rm -rf "$to" && mv "$work/chdb" "$to"
  say "libchdb is in $to"
}

fetch_npm_file() { # WORK PACKAGE FILE TO
  say "fetching $2"
  mkdir -p "$1/npm" && rm -rf "${1:?}/npm/"*
  (cd "$1/npm" && npm pack --silent --ignore-scripts "$2" >/dev/null 2>"$1/npm.err" && tar xzf ./*.tgz) ||
    { cat "$1/npm.err" >&2; fail "$2 could not be fetched from the npm registry" "check the network, then run this again"; }
  install -D -m 644 "$1/npm/package/$3" "$4"
}

fetch_npm() {
  local work=$1 kind name file place
  while read -r kind name file place; do
    [ "$kind" = npm ] || continue
    fetch_npm_file "$work" "$name" "$file" "$work/parts/$place"
  done <"$list/parts.txt"
}

fetch_parts() {
  parts_complete && return
  mkdir -p "$cache"
  local work; work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work"' RETURN
  fetch_npm "$work"
  fetch_header "$work"
  (cd "$work/parts" && sha256sum --quiet --check "$list/parts.sha256" >&2) ||
    fail "a fetched part does not have the expected hash" "do not use it; if you changed the version on purpose, update scripts/parts/parts.sha256"
  rm -rf "$parts" && mv "$work/parts" "$parts"
}

# The report page's build tools; none of them is needed to run AACO.
fetch_web() {
  [ -f "$top/web/package-lock.json" ] || return 0
  local stamp=$top/web/node_modules/.aaco-lock
  cmp -s "$top/web/package-lock.json" "$stamp" 2>/dev/null && return
  say "installing the report page's build tools"
  (cd "$top/web" && npm ci --silent --ignore-scripts --no-audit --no-fund >&2)
  cp "$top/web/package-lock.json" "$stamp"
}

case ${1:-} in
  --print) missing_packages; exit 0 ;;
  --llama) fetch_llama; exit 0 ;;
  --chdb) fetch_chdb; exit 0 ;;
  --ort-providers) fetch_ort_providers; exit 0 ;;
  --ort-versions) fetch_ort_versions; exit 0 ;;
  --proofs) left_out='[^p]|p[^r]' wants_npm=; # all but that line
    install_packages; exit 0 ;;
  --product) left_out='(python|tests|checks|proofs):' ;;
  '') ;;
  *) fail "unknown option '$1'" "scripts/bootstrap.sh --help" ;;
esac
install_packages
fetch_parts
fetch_web
say "ready (parts in $parts)"
