#!/usr/bin/env bash
# Builds the Debian packages without tests, checks them with lintian, installs them into a bare Debian 12 made for the purpose, uses them as
# an ordinary user (README's five commands, the Python module, with PyTorch where it installs), removes them, and looks for what is left. Does the same with the archive
# that needs no installation.
. "$(dirname "$0")/../lib/proof.sh" "the packages install, run and go on a bare Debian 12; the archive runs from any folder; lintian finds no errors" "$@"
. scripts/lib/bare_debian.sh
command -v lintian >/dev/null || skip "lintian is missing (apt install lintian)"
build=build/package
cmake --preset release -B "$build" -DAACO_BUILD_TESTS=OFF >"$out.build.log"
cmake --build "$build" -j "$(nproc)" >>"$out.build.log" 2>&1 || { tail -n 20 "$out.build.log"; exit 1; }
rm -f "$build"/*.deb "$build"/*.tar.gz
cpack --config "$build/CPackConfig.cmake" -B "$build" >>"$out.build.log" 2>&1
lintian --allow-root --tag-display-limit 0 "$build"/*.deb >"$out.lintian.txt" || true
if grep '^E:' "$out.lintian.txt"; then exit 1; fi
make_bare bookworm
cp "$build"/*.deb "$root/packages/"
install_pytorch
try_packages torch
# The archive needs what the package depends on, and nothing of ours under /usr.
inside sh -c 'test ! -e /usr/bin/aaco'
mkdir "$root/home/user/archive" && tar -xzf "$build"/aaco-*-program.tar.gz -C "$root/home/user/archive" --strip-components=1 && chown -R 1000:1000 "$root/home/user/archive"
user /home/user/archive/bin/aaco run mlp --warmup 2 --iterations 40 --tag archive | head -n 3
user /home/user/archive/bin/aaco report tag:archive --html /home/user/archive.html
echo "$(grep -c '^W:' "$out.lintian.txt" || true) lintian warnings, no errors; five commands and the notebooks ran as an ordinary user; nothing is left after apt remove; the archive runs; $pytorch"
