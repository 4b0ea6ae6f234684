#!/usr/bin/env bash
# Writes the API reference of the installed public headers as HTML. Any warning of Doxygen is an error.
#   scripts/lib/library_reference.sh [OUTPUT_FOLDER]      (default build/reference; open html/index.html there)
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
output=${1:-build/reference}
command -v doxygen >/dev/null || { echo "library_reference: skipped, doxygen is not installed (scripts/bootstrap.sh installs it)"; exit 77; }
mkdir -p "$output"
headers=(src/*/*.h) # those that cmake --install installs
{ cat docs/reference/Doxyfile; printf 'OUTPUT_DIRECTORY = "%s"\nINPUT = %s\n' "$output" "${headers[*]}"; } | doxygen -
echo "library_reference: ${#headers[@]} headers, $output/html/index.html"
