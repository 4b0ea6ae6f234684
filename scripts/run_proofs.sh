#!/usr/bin/env bash
# Runs the long measurements (statistical power, long fuzzing, accuracy, real files, speed), each a program in scripts/proofs/.
#   scripts/run_proofs.sh                  all proofs that are not done for the current commit
#   scripts/run_proofs.sh --list           what there is, and what is done
#   scripts/run_proofs.sh --filter REGEX   only the proofs whose name matches
#   scripts/run_proofs.sh --again          also those that are done
# Writes what was seen to build/proofs/NAME.txt (and NAME.json where the proof has figures) and prints a table at the end.
# Can be stopped and started again: a finished proof is not repeated for the same commit, an unfinished one continues where its
# program can. Takes hours in all. Exit code: 0 all passed or skipped, 1 something failed, 2 usage, 3 no program to measure.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
again= filter=. list=
while [ $# -gt 0 ]; do
  case $1 in
    --list) list=1 ;;
    --again) again=1 ;;
    --filter) filter=${2:?run_proofs: --filter requires a regular expression}; shift ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "run_proofs: unknown option '$1' (see scripts/run_proofs.sh --help)" >&2; exit 2 ;;
  esac
  shift
done
cd "$top"

proofs=${AACO_PROOFS_FOLDER:-$top/scripts/proofs} # the tests of this script name a folder of their own
out=${AACO_PROOFS_OUTPUT:-$top/build/proofs}
mkdir -p "$out"
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || commit+=-changed # never done: its text may differ next time

names=()
for program in "$proofs"/*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  name=$(basename "${program%.*}")
  ! grep -qE "$filter" <<<"$name" || names+=("$name")
done
[ ${#names[@]} -gt 0 ] || { echo "run_proofs: no proof matches '$filter'" >&2; exit 2; }

program_of() { find "$proofs" -maxdepth 1 -type f -name "$1.*" -perm -u+x | head -n 1; }
# The state file of a proof has one line: COMMIT STATE SECONDS LAST LINE OF OUTPUT.
state_of() { # "passed 12 ...", "skipped 0 ...", or nothing where it is not done for this commit
  local of rest
  [ -f "$out/$1.state" ] || return 0
  read -r of rest <"$out/$1.state"
  [ "$of" != "$commit" ] || [ "${commit%-changed}" != "$commit" ] || echo "$rest"
}

if [ -n "$list" ]; then
  for name in "${names[@]}"; do
    read -r state _ <<<"$(state_of "$name")" || true
    printf '%-18s %-8s %s\n' "$name" "${state:-to do}" "$("$(program_of "$name")" --describe)"
  done
  exit 0
fi

run_one() {
  local name=$1 status=0 began=$SECONDS state
  printf '\n== %s: %s\n' "$name" "$("$(program_of "$name")" --describe)"
  AACO_PROOF_OUT=$out/$name AACO_PROOF_COMMIT=$commit "$(program_of "$name")" </dev/null 2>&1 | tee "$out/$name.txt" || status=$?
  case $status in
    0) state=passed ;;
    77) state=skipped ;;
    *) state=FAILED ;;
  esac
  printf '%s %s %s %s\n' "$commit" "$state" $((SECONDS - began)) "$(tail -n 1 "$out/$name.txt")" >"$out/$name.state"
}

for name in "${names[@]}"; do
  case $(state_of "$name") in
    passed*) [ -n "$again" ] || continue ;;
  esac
  run_one "$name"
done

printf '\n%-18s %-8s %7s  %s\n' "proof at $commit" state seconds "last line of build/proofs/NAME.txt"
failed=0
for name in "${names[@]}"; do
  read -r of state seconds text <"$out/$name.state"
  printf '%-18s %-8s %7s  %s\n' "$name" "$state" "$seconds" "${text:0:110}"
  [ "$state" != FAILED ] || failed=1
done
exit $failed
