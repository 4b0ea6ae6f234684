#!/usr/bin/env bash
# Builds AACO with warnings as errors and runs all tests and checks. The last line is "N passed, N failed, N skipped".
#   scripts/run_tests.sh                 everything (28 to 34 minutes on two cores where the compiler cache has most; docs/results.md)
#   scripts/run_tests.sh --fast          without fuzzing, the report page's tests, packages and clang-tidy
#   scripts/run_tests.sh --filter REGEX  only the test programs whose name matches
#   scripts/run_tests.sh --checks        only what needs no build: layers, documents, language, form, sizes (20 s)
# Long measurements (power, long fuzzing, accuracy, speed) are in scripts/run_proofs.sh.
# AACO_FUZZ_SECONDS: seconds per fuzz target (2). AACO_FILE_SECONDS: seconds for headers and clang-tidy, each.
# Exit code: 0 all passed, 1 something failed, 2 usage, 3 set-up failed.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"
exec </dev/null

fast= filter= checks=
fuzz_seconds=${AACO_FUZZ_SECONDS:-2}
while [ $# -gt 0 ]; do
  case $1 in
    --fast) fast=1 ;;
    --checks) checks=1 ;;
    --filter) filter=${2:?run_tests: --filter requires a regular expression}; shift ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "run_tests: unknown option '$1' (--fast, --filter REGEX, --checks)" >&2; exit 2 ;;
  esac
  shift
done

export CCACHE_BASEDIR=$top # a clone elsewhere finds what was compiled here
build=$top/build/release
results=$build/test-results
jobs=$(nproc)
passed=0 failed=0 skipped=0
times=() notes=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

add() { passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3)); }
note_failed() { notes+=("FAILED   $1: $2"); }
note_skipped() { notes+=("skipped  $1: $2"); }

# stage NAME FUNCTION: runs it, records how long it took, and continues whether or not it failed.
stage() {
  local name=$1 began=$SECONDS
  printf '\n== %s\n' "$name"
  "$2" || true
  times+=("$(printf '%5d s  %s' $((SECONDS - began)) "$name")")
}

# one NAME COMMAND...: a check that counts as one test; exit code 77 means skipped, with the reason as the last line.
one() {
  local name=$1 status=0
  shift
  "$@" 2>&1 | tee "$log" || status=$?
  case $status in
    0) add 1 0 0 ;;
    77) add 0 0 1; note_skipped "$name" "$(tail -n 1 "$log")" ;;
    *) add 0 1 0; note_failed "$name" "$(tail -n 1 "$log")"; return 1 ;;
  esac
}

take_counts() { # results of tools/count_tests
  local kind name reason counts
  read -r -a counts < <(head -n 1 "$1")
  add "${counts[@]}"
  while IFS=$'\t' read -r kind name reason; do
    if [ "$kind" = fail ]; then note_failed "$name" "$reason"; else note_skipped "$name" "$reason"; fi
  done < <(tail -n +2 "$1")
}

build_all() { one build build_steps; }
build_steps() { cmake --preset ci >/dev/null && cmake --build --preset ci -j "$jobs"; }

run_ctest() {
  rm -rf "$results"
  mkdir -p "$results"
  ctest --test-dir "$build" -j "$jobs" --output-on-failure --output-junit "$results/ctest.xml" ${filter:+-R "$filter"} 2>&1 |
    grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .* Passed )' || true
  local own; own=$(mktemp)
  tools/count_tests "$results" --ctest "$results/ctest.xml" >"$own"
  if grep -q '^fail' "$own"; then run_again "$own"; fi
  head -n 1 "$own" | { read -r p f s; echo "tests: $p passed, $f failed, $s skipped"; }
  take_counts "$own"
  rm -f "$own"
}

# run_again COUNTS: what failed beside other tests runs three times more, alone. What passes each time is listed as unsteady: a defect
# of the test or of the program all the same (docs/decisions/0007_failed_tests_run_again.md). COUNTS becomes what holds after it.
run_again() {
  printf '\n== tests that failed, three times more, alone\n'
  local first kind name reason; first=$(grep '^fail' "$1")
  AACO_TESTS_AGAIN=3 ctest --test-dir "$build" -j 1 --rerun-failed --repeat until-fail:3 --output-on-failure --output-junit "$results/again.xml" || true
  tools/count_tests "$results" --ctest "$results/ctest.xml" --again "$results/again.xml" >"$1"
  while IFS=$'\t' read -r kind name reason; do
    grep -qF "$kind"$'\t'"$name"$'\t' "$1" || notes+=("unsteady $name: $reason (passed three times alone)")
  done <<<"$first"
}

run_checks() {
  text_checks
  one library_reference scripts/lib/library_reference.sh "$build/reference" || true
}
text_checks() { # what needs no build
  one check_layers tools/check_layers || true
  one check_docs tools/check_docs || true
  one check_language tools/check_language || true
  one check_format tools/check_format --all || true
  one check_size tools/check_size || true
}

# Last, file by file: they share what remains of a run's 20 minutes, and the next run continues where they stopped.
run_headers() { one_by_one check_headers 150; }
run_tidy() { one_by_one check_tidy 100 --all; }
one_by_one() { # CHECK SECONDS ARGUMENT...: at most that long
  local check=$1 most=$2 room=$((1140 - SECONDS)) left
  shift 2
  room=$((room > most ? most : room < 15 ? 15 : room))
  one "$check" "tools/$check" "$@" --seconds "${AACO_FILE_SECONDS:-$room}" || true
  left=$(sed -nE "s/^$check: ([0-9]+ [a-z]+ were not reached.*)/\1/p" "$log")
  [ -z "$left" ] || { add 0 0 1; note_skipped "$check" "$left"; }
}

run_fuzz() {
  local name
  if ! printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address -x c++ -o /dev/null - 2>"$log"; then
    add 0 0 1
    note_skipped fuzz "clang++ cannot link fuzz targets on this machine: $(head -n 1 "$log")"
    return
  fi
  one fuzz_build fuzz_build_steps || return
  local names; mapfile -t names < <(cd build/fuzz/fuzz 2>/dev/null && find . -maxdepth 1 -type f -perm -u+x -printf '%f\n' | sort)
  [ ${#names[@]} -gt 0 ] || { add 0 0 1; note_skipped fuzz "there are no fuzz targets"; return; }
  rm -rf build/fuzz/logs && mkdir -p build/fuzz/logs
  export fuzz_seconds
  printf '%s\n' "${names[@]}" | xargs -n 1 -P "$jobs" scripts/lib/fuzz_one.sh || true
  for name in "${names[@]}"; do
    if [ -e "build/fuzz/logs/$name.ok" ]; then add 1 0 0; else add 0 1 0; note_failed "fuzz $name" "see build/fuzz/logs/$name.log"; fi
  done
}
fuzz_build_steps() { cmake --preset fuzz >/dev/null && cmake --build build/fuzz -j "$jobs" --target aaco_fuzzers; }

run_web() {
  if [ ! -f web/package.json ] || [ ! -f tests/web/run.mjs ]; then add 0 0 1; note_skipped web "web/package.json or tests/web/run.mjs is missing"; return; fi
  local status=0 line
  (cd web && npm test --silent) 2>&1 | tee "$log" || status=$?
  line=$(grep -Eo '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$log" | tail -n 1 || true)
  if [ -n "$line" ]; then
    local numbers; read -r -a numbers <<<"${line//[^0-9 ]/}"
    add "${numbers[@]}"
    if [ "${numbers[1]}" != 0 ]; then note_failed web "$line"; elif [ $status != 0 ]; then add 0 1 0; note_failed web "npm test ended with $status"; fi
    while read -r line; do note_skipped web "$line"; done < <(sed -nE 's/^ *(skip|skipped):? +(.*)/\2/p' "$log")
  elif [ $status = 0 ]; then add 1 0 0
  else add 0 1 0; note_failed web "$(tail -n 1 "$log")"; fi
}

run_install() {
  [ -f examples/CMakeLists.txt ] || { add 0 0 1; note_skipped examples "examples/CMakeLists.txt is missing"; return; }
  local prefix=$build/installed
  rm -rf "$prefix"
  one install cmake --install "$build" --prefix "$prefix" || return 0
  one examples scripts/lib/build_examples.sh "$prefix" "$build/examples" || true
  [ -n "$fast" ] || one packages scripts/lib/check_package.sh "$build"
}

set_up() { scripts/bootstrap.sh || { echo "run_tests: the set-up failed, see above" >&2; exit 3; }; }

finish() {
  printf '\n== summary\n'
  [ ${#notes[@]} = 0 ] || printf '%s\n' "${notes[@]}" | sort
  printf '%s\n' "${times[@]}"
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" = 0 ]
}

if [ -n "$checks" ]; then
  stage "checks" text_checks
  finish
  exit
fi
stage "set-up" set_up
stage "build" build_all
if [ "$failed" != 0 ]; then finish; exit 1; fi
stage "tests" run_ctest
if [ -n "$filter" ]; then finish; exit; fi
stage "checks" run_checks
stage "install and examples" run_install
if [ -z "$fast" ]; then
  stage "page" run_web
  stage "fuzzing" run_fuzz
fi
stage "headers" run_headers
[ -n "$fast" ] || stage "clang-tidy" run_tidy
finish
