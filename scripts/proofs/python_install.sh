#!/usr/bin/env bash
# Installs the Python module with pip into a virtual environment that sees the system's packages, from build/release, as a wheel,
# and uses both as a user does.
. "$(dirname "$0")/../lib/proof.sh" "pip installs the Python module into a virtual environment; a wheel does too" "$@"
need_program
python=/usr/bin/python3
for module in venv pip setuptools wheel; do
  "$python" -c "import $module" 2>/dev/null || skip "python3-$module is missing (apt install python3-venv python3-pip python3-setuptools python3-wheel)"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export AACO_CMAKE_BUILD=$PWD/build/release PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
try() { # VENV: the module and the program of an environment, away from the tree
  (cd "$work" && env -u AACO_SHARE -u AACO_ORT_LIBRARY -u PYTHONPATH HOME="$work/home" AACO_SESSIONS="$work/$1.sessions" "$work/$1/bin/python" -c '
import aaco, pathlib, sys
assert pathlib.Path(aaco.__file__).is_relative_to(sys.prefix), aaco.__file__
session = aaco.run("mlp", warmup=2, iterations=40)
assert session.metrics["latency.count"].value == 40
assert len(session.table("inference_iters")) >= 40
assert "iframe" in session._repr_html_()
comparison = aaco.ab({"model": "mlp", "threads": 1, "warmup": 2}, {"inject_delay": "100%", "warmup": 2}, duration=2, detectable=0.3)
print(comparison.verdict, aaco.__version__)
' && "$work/$1/bin/aaco" --version)
}
"$python" -m venv --system-site-packages "$work/direct"
"$work/direct/bin/pip" install -q --no-build-isolation --no-deps . >"$out.pip.log" 2>&1 || { tail -n 20 "$out.pip.log"; exit 1; }
try direct
"$work/direct/bin/pip" wheel -q --no-build-isolation --no-deps -w "$work/wheels" . >>"$out.pip.log" 2>&1 || { tail -n 20 "$out.pip.log"; exit 1; }
"$python" -m venv --system-site-packages "$work/wheel"
"$work/wheel/bin/pip" install -q --no-deps "$work"/wheels/*.whl
try wheel
"$work/wheel/bin/pip" uninstall -q -y aaco
left=$(find "$work/wheel" -path '*aaco*' | grep -v "^$work/wheel$" || true)
[ -z "$left" ] || { echo "left after pip uninstall: $left"; exit 1; }
echo "pip install and a wheel of $(du -m "$work"/wheels/*.whl | cut -f1) MB work; nothing is left after pip uninstall"
