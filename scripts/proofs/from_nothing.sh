#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "the demo and .ci/run from an empty clone with empty caches: 7 and 20 minutes on two cores (30 min)" "$@"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
timed() { # NAME LIMIT_SECONDS COMMAND...
  local name=$1 limit=$2 began=$SECONDS status=0
  shift 2
  git clone -q . "$folder/$name"
  (cd "$folder/$name" && XDG_CACHE_HOME=$folder/cache_$name CCACHE_DIR=$folder/ccache_$name AACO_SESSIONS=$folder/sessions "$@") >"$out.$name.log" 2>&1 || status=$?
  echo "$name: $((SECONDS - began)) s (target $limit), exit code $status, $(tail -n 1 "$out.$name.log")"
  [ $status = 0 ] && [ $((SECONDS - began)) -le "$limit" ]
}
good=1
timed demo 420 scripts/run_demo.sh || good=
timed tests 1200 .ci/run || good=
echo "from nothing on $(nproc) cores: $([ -n "$good" ] && echo within the targets || echo NOT within the targets)"
[ -n "$good" ]
