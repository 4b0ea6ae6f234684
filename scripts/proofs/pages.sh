#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "every page of the dashboard and of reports under axe-core at 375, 1400 and 2560 px, light and dark (3 min)" "$@"
[ -x /usr/bin/chromium ] || skip "no chromium"
[ -d web/node_modules/axe-core ] || skip "web/node_modules has no axe-core (scripts/bootstrap.sh gets it)"
AACO_WEB_AXE=all npm test --silent --prefix web
