#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "dashboard: first contentful paint over 1,000 sessions, warm server, median of 10 (1 min)" "$@"
[ -x /usr/bin/chromium ] || skip "no chromium"
[ -d web/node_modules/playwright-core ] || skip "web/node_modules has no playwright-core (scripts/bootstrap.sh gets it)"
need_program
node tests/web/lib/first_paint.mjs "$program"
