#!/usr/bin/env bash
# Builds the Debian packages inside a newer suite (AACO_SUITE, default forky), with its compiler, libraries and Python, installs and uses
# them there as scripts/proofs/debian_packages.sh does on Debian 12, and lets that suite's pyarrow read a table: the same addresses.
# Its PyTorch, where it installs, trains a small network below aaco.torch_profile(): trace and telemetry become one session on one clock.
# AACO_SUITE_JOBS limits the build (default: all CPUs).
. "$(dirname "$0")/../lib/proof.sh" "the packages build, install, run and go on a newer Debian suite; its pyarrow reads tables without copies" "$@"
. scripts/lib/bare_debian.sh
suite=${AACO_SUITE:-forky}
parts=${XDG_CACHE_HOME:-$HOME/.cache}/aaco/parts
[ -d "$parts" ] || skip "the prebuilt parts are missing; scripts/bootstrap.sh fetches them"
make_bare "$suite"
inside apt-get update -q >>"$out.bare.log" 2>&1
sources=$(sed -nE '/^(tests|checks|proofs):/d;s/^[a-z]*: *//p' scripts/parts/packages.txt | tr '\n' ' ')
# shellcheck disable=SC2086
inside apt-get install -y -q --no-install-recommends $sources python3-pyarrow nodejs npm dpkg-dev file >>"$out.bare.log" 2>&1 || { tail -n 5 "$out.bare.log"; skip "the build's packages cannot be installed in $suite"; }
mkdir -p "$root/src" "$root/root/.cache/aaco"
cp -a "$parts" "$root/root/.cache/aaco/parts"
git archive HEAD | tar -x -C "$root/src"
inside sh -c "cd /src && cmake --preset release -DAACO_BUILD_TESTS=OFF && cmake --build --preset release -j ${AACO_SUITE_JOBS:-$(nproc)} && cd build/release && cpack -G DEB" >"$out.build.log" 2>&1 ||
  { tail -n 20 "$out.build.log"; exit 1; }
cp "$root"/src/build/release/*.deb "$root/packages/"
arrow() {
  user python3 -c '
import pyarrow
import aaco
table = aaco.open("tag:first").table("inference_iters")
read = pyarrow.RecordBatchReader.from_stream(table).read_all()
assert read.num_rows == len(table) and read.column_names == table.columns, read.schema
for name in ("start_ns", "duration_ns", "rank"):
    assert read[name].chunk(0).buffers()[1].address == table[name].address, name
assert read["phase"].to_pylist() == table["phase"].texts()
print(f"pyarrow {pyarrow.__version__}: {read.num_rows} rows, {read.num_columns} columns at the addresses of the table")
'
}
install_pytorch
also() { arrow && torch; }
try_packages also
echo "$suite, $(inside sh -c 'c++ -dumpfullversion'): five commands, the notebooks and pyarrow ran as an ordinary user; nothing is left after apt remove; $pytorch"
