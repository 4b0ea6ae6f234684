#!/usr/bin/env bash
# Makes the DKMS package of the kernel module: kernel/make_package.sh [FOLDER] writes FOLDER/aaco-dkms_VERSION_all.deb (default: build/package).
# Installing it builds the module for each installed kernel with headers, makes the group `aaco` and adds the udev rule.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,3s/^# //p' "$0"; exit 0 ;; -*) echo "make_package: unknown option '$1'" >&2; exit 2 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(realpath -m "${1:-../build/package}")
command -v dpkg-deb >/dev/null || { echo "make_package: dpkg-deb is missing (apt install dpkg)" >&2; exit 3; }
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
sources=$tree/usr/src/aaco-$version
install -d "$tree/DEBIAN"
read -ra objects < <(sed -n 's/^aaco-y := //p' Kbuild)
install -Dm 644 -t "$sources" "${objects[@]/%.o/.c}" ./*.h Kbuild Makefile dkms.conf
install -Dm 644 60-aaco.rules "$tree/lib/udev/rules.d/60-aaco.rules"
install -Dm 644 ../LICENSE "$tree/usr/share/doc/aaco-dkms/copyright"
cat >"$tree/DEBIAN/control" <<END
Package: aaco-dkms
Version: $version
Architecture: all
Section: kernel
Priority: optional
Maintainer: AACO authors <aaco@example.org>
Depends: dkms, adduser
Recommends: aaco
Description: kernel module of the AI Compute Observatory
 GPU memory of processes, clock pairs, and interrupts around a region, read by aaco from /dev/aaco.
END
cat >"$tree/DEBIAN/postinst" <<END
#!/bin/sh
set -e
if [ "\$1" = configure ]; then
  getent group aaco >/dev/null || addgroup --system --quiet aaco
  dkms add aaco/$version >/dev/null 2>&1 || true
  # A kernel without headers, or too new for this source, must not break the installation.
  dkms autoinstall || echo "aaco-dkms: not built for every kernel; hint: apt install linux-headers-amd64, then dkms autoinstall" >&2
fi
END
cat >"$tree/DEBIAN/prerm" <<END
#!/bin/sh
set -e
dkms remove aaco/$version --all >/dev/null 2>&1 || true
END
chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/prerm"
mkdir -p "$out"
dpkg-deb --root-owner-group -b "$tree" "$out/aaco-dkms_${version}_all.deb" >/dev/null
echo "$out/aaco-dkms_${version}_all.deb"
