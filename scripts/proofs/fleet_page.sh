#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "dashboard: first opening of the Fleet page over 1,000 simulated nodes, map before findings, frames under the pointer (5 min)" "$@"
[ -x /usr/bin/chromium ] || skip "no chromium"
[ -d web/node_modules/playwright-core ] || skip "web/node_modules has no playwright-core (scripts/bootstrap.sh gets it)"
need_program
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" -q lab fleet --nodes 1000 --devices 4 --days 1 --fault all --out "$work/fleet"
node tests/web/lib/fleet_page.mjs "$program" "$work/fleet"
