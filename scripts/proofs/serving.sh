#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "time per output token and to the first token against published serving points, whole models held out (1 min)" "$@"
need_program
need_data estimation
python3 scripts/lib/fit_serving.py --rows "$data/estimation/serving.csv.gz" --program "$program"
