#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "every shared GPU trace against a second, simple path to the same numbers (10 min)" "$@"
need_data traces
[ -f build/release/build.ninja ] || cmake --preset release >/dev/null
ninja -C build/release aaco_workflows_import_test aaco_real_traces_test >"$out.build.log" 2>&1 || { tail -n 20 "$out.build.log"; exit 1; }
export AACO_LONG_TESTS=1
build/release/tests/aaco_workflows_import_test --gtest_filter='*RealTraces*'
build/release/tests/aaco_real_traces_test
echo "real_traces: all equal, within the limits of the tests"
