#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "every fuzz target for 10 minutes (3 to 4 h on two cores; continues with the targets not done)" "$@"
printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
  clang++ -fsanitize=fuzzer,address -x c++ -o /dev/null - 2>/dev/null || skip "clang++ cannot link fuzz targets on this machine"
cmake --preset fuzz >/dev/null
cmake --build build/fuzz -j "$(nproc)" --target aaco_long_fuzzers >"$out.build.log" 2>&1 || { tail -n 20 "$out.build.log"; exit 1; }
export fuzz_seconds=${AACO_PROOF_FUZZ_SECONDS:-600}
finished=$out.$commit.done
touch "$finished"
mkdir -p build/fuzz/logs
find build/fuzz/fuzz -maxdepth 1 -type f -perm -u+x -printf '%f\n' | sort | grep -vxFf "$finished" >"$out.todo" || true
export finished
one() { rm -f "build/fuzz/logs/$1.ok"; scripts/lib/fuzz_one.sh "$1"; [ ! -e "build/fuzz/logs/$1.ok" ] || echo "$1" >>"$finished"; }
export -f one
xargs -r -n 1 -P "$(nproc)" bash -c 'one "$1"' _ <"$out.todo"
count=$(find build/fuzz/fuzz -maxdepth 1 -type f -perm -u+x | wc -l) stood=$(wc -l <"$finished")
echo "$stood of $count targets without findings, $fuzz_seconds s each"
[ "$stood" = "$count" ]
