#!/usr/bin/env bash
# Runs the RUN lines of one test: run.sh INFC_OPT FILECHECK FILE. In them, %s is the file; infc_opt and FileCheck
# are the two programs; `not` wants the command to fail.
set -euo pipefail
infc_opt_path=$1 filecheck_path=$2 file=$3
infc_opt() { "$infc_opt_path" "$@"; }
FileCheck() { "$filecheck_path" "$@"; }
not() { ! "$@"; }

n=0
while IFS= read -r line; do
    n=$((n + 1))
    eval "${line//%s/\"\$file\"}" || { echo "$file: failed: $line" >&2 && exit 1; }
done < <(sed -n 's|^// RUN: *||p' "$file")
[ $n -gt 0 ] || { echo "$file: no RUN line" >&2 && exit 1; }
