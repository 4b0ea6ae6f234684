#!/usr/bin/env bash
# Sets up a Debian 12 machine for building, testing and running AACO. Running it again takes a second.
#   scripts/bootstrap.sh             everything
#   scripts/bootstrap.sh --product   only what the program itself needs (no Python module, test libraries, browser or linters)
#   scripts/bootstrap.sh --print     print the missing Debian packages; install nothing
#   scripts/bootstrap.sh --llama     fetch a llama.cpp server of a newer Debian suite for the tests that use one; nothing else
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

only_product=

debian_packages() { # of all purposes, or without those that only tests and checks need
  sed -nE "${only_product:+/^(python|tests|checks):/d;}s/^[a-z]*: *//p" "$list/packages.txt" | tr ' ' '\n' | sed '/^$/d'
}

missing_packages() {
  local name
  debian_packages | while read -r name; do
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
  done
  command -v npm >/dev/null || printf 'nodejs\nnpm\n'
}

install_packages() {
  command -v apt-get >/dev/null ||
    fail "this is not a Debian-like system (no apt-get)" "install the packages of scripts/parts/packages.txt yourself, then see README.md, 'Other systems'"
  local wanted; wanted=$(missing_packages | tr '\n' ' ')
  [ -z "${wanted// /}" ] && return
  say "installing Debian packages: $wanted"
  as_root apt-get update -q >&2
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $wanted >&2
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

fetch_npm() {
  local work=$1 kind name file place
  while read -r kind name file place; do
    [ "$kind" = npm ] || continue
    say "fetching $name"
    mkdir -p "$work/npm" && rm -rf "${work:?}/npm/"*
    (cd "$work/npm" && npm pack --silent --ignore-scripts "$name" >/dev/null 2>"$work/npm.err" && tar xzf ./*.tgz) ||
      { cat "$work/npm.err" >&2; fail "$name could not be fetched from the npm registry" "check the network, then run this again"; }
    install -D -m 644 "$work/npm/package/$file" "$work/parts/$place"
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
  --product) only_product=1 ;;
  '') ;;
  *) fail "unknown option '$1'" "scripts/bootstrap.sh --help" ;;
esac
install_packages
fetch_parts
fetch_web
say "ready (parts in $parts)"
