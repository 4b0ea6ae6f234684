#!/usr/bin/env bash
. "$(dirname "$0")/../lib/proof.sh" "estimates against measurements of real devices that the fit has not seen (10 min)" "$@"
need_program
need_data estimation
python3 tests/support/run_python.py tests/accuracy long_accuracy --xml "$out.xml"
echo "accuracy: within the limits of tests/accuracy/long_accuracy.py"
