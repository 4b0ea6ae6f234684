#!/bin/sh
# The performance gate of a CI job: `aaco gate` with its reports as files. Used by the GitHub action and the GitLab template.
#   gate.sh BASELINE [OPTION...]    options of `aaco gate`; what follows '--' are those of `aaco run`
# Environment: AACO_GATE_RETRIES (3), AACO_GATE_OUT (aaco-gate), AACO_GATE_INCONCLUSIVE: fail (default) or pass.
# Writes comment.md, gate.xml and gate.html to AACO_GATE_OUT. Exit code: that of `aaco gate`; 0 for 4 with AACO_GATE_INCONCLUSIVE=pass.
set -eu
case ${1:-} in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  '') echo "gate.sh: missing baseline; hint: gate.sh BASELINE" >&2; exit 2 ;;
esac
baseline=$1
shift
out=${AACO_GATE_OUT:-aaco-gate}
inconclusive=${AACO_GATE_INCONCLUSIVE:-fail}
case $inconclusive in
  fail | pass) ;;
  *) echo "gate.sh: invalid value '$inconclusive' for AACO_GATE_INCONCLUSIVE: expected fail or pass" >&2; exit 2 ;;
esac
mkdir -p "$out"
code=0
aaco gate --baseline "$baseline" --retries "${AACO_GATE_RETRIES:-3}" --markdown "$out/comment.md" --junit "$out/gate.xml" \
  --html "$out/gate.html" "$@" || code=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$out/comment.md" ]; then cat "$out/comment.md" >>"$GITHUB_STEP_SUMMARY"; fi
if [ "$code" = 4 ] && [ "$inconclusive" = pass ]; then
  echo "gate.sh: inconclusive, passed as AACO_GATE_INCONCLUSIVE says" >&2
  code=0
fi
exit "$code"
