#!/usr/bin/env bash
# An apt configuration for another suite than this machine's, so that its packages can be downloaded without installing them. Sourced.
#   debian_suite SUITE FOLDER    writes FOLDER/apt.conf for Debian's SUITE from this machine's own sources; 1 where it has none
#   fetch_packages FOLDER NAME...    downloads the packages into FOLDER; apt checks them by their hash in the suite's signed index
#   fetch_with_dependencies FOLDER NAME...    the same, with all packages they depend on
debian_suite() {
  local suite=$1 root=$2/apt from
  mkdir -p "$root"/etc/apt/{sources.list.d,preferences.d,apt.conf.d} "$root"/var/lib/apt/lists/partial \
    "$root"/var/cache/apt/archives/partial "$root"/var/lib/dpkg
  : >"$root/var/lib/dpkg/status"
  printf 'Dir "%s";\nDir::State::status "%s/var/lib/dpkg/status";\nAPT::Sandbox::User "root";\n' "$root" "$root" >"$2/apt.conf"
  for from in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do # one line per source
    [ -f "$from" ] || continue
    sed -nE "s/^(deb (\[[^]]*\] )?[^ ]*debian\/? )bookworm main.*/\1$suite main/p" "$from" | head -n 1 >"$root/etc/apt/sources.list"
    [ ! -s "$root/etc/apt/sources.list" ] || return 0
  done
  for from in /etc/apt/sources.list.d/*.sources; do # deb822 paragraphs
    [ -f "$from" ] || continue
    awk -v suite="$suite" 'BEGIN{RS=""; ORS="\n\n"} /Suites:[^\n]*bookworm/ && !/security/ {gsub(/Suites:[^\n]*/, "Suites: " suite); print}' \
      "$from" >"$root/etc/apt/sources.list.d/debian.sources"
    [ ! -s "$root/etc/apt/sources.list.d/debian.sources" ] || return 0
  done
  return 1
}

# A mirror that is not kept up to date has an expired index; its signature is checked all the same.
fetch_packages() {
  local folder=$1
  shift
  (cd "$folder" && export APT_CONFIG=$folder/apt.conf && apt-get update -q -o Acquire::Check-Valid-Until=false >/dev/null &&
    apt-get download -q "$@" >/dev/null)
}

fetch_with_dependencies() {
  local folder=$1
  shift
  (export APT_CONFIG=$folder/apt.conf && apt-get update -q -o Acquire::Check-Valid-Until=false >/dev/null &&
    apt-get install -y -q --download-only --no-install-recommends "$@" >/dev/null) &&
    mv "$folder"/apt/var/cache/apt/archives/*.deb "$folder"/
}
