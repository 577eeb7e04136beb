#!/bin/sh
# What the theorems stand on: no Admitted and no Axiom in the files, the axioms in axioms.txt and no others, coqchk.
set -eu
cd "$(dirname "$0")"
if grep -nE '^[[:space:]]*(Admitted|Axioms?|Parameters?|Conjecture)\b|admit\b|bypass_check|Unset (Guard|Positivity|Universe)' -- *.v; then
  echo "audit: a theorem is assumed" >&2
  exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r file theorem; do
  printf 'Require Import %s.\nPrint Assumptions %s.\n' "$file" "$theorem" > "$work/Assumed.v"
  "${COQC:-coqc}" -q -R . Mechdesign "$work/Assumed.v" > "$work/printed"
  sed -n '/^Axioms:$/d; /^Closed under the global context$/d; s/^\([^[:space:]][^[:space:]]*\).*/\1/p' "$work/printed" | sort -u > "$work/found"
  sort -u axioms.txt > "$work/allowed"
  if ! grep -q '^Axioms:\|^Closed under the global context' "$work/printed" || [ -n "$(comm -23 "$work/found" "$work/allowed")" ]; then
    echo "audit: $theorem stands on other axioms than those of axioms.txt:" >&2
    cat "$work/printed" >&2
    exit 1
  fi
  echo "$theorem: $(grep -c . "$work/found" || true) axioms, all of the real numbers"
done < theorems.txt
last=$(sed -n 's/\.v$//p' _CoqProject | sed 's/^/Mechdesign./')
# shellcheck disable=SC2086
"${COQCHK:-coqchk}" -silent -o -R . Mechdesign $last > "$work/checked" 2>&1 || { cat "$work/checked" >&2; exit 1; }
sed -n '/^\* Axioms:/,/^  $/s/^    //p' "$work/checked" | sed 's/^Coq\.[A-Za-z]*\.//' | sort -u > "$work/found"
if ! cmp -s "$work/found" "$work/allowed"; then
  echo "audit: coqchk finds other axioms than those of axioms.txt:" >&2
  cat "$work/checked" >&2
  exit 1
fi
echo "coqchk: all files are right, with $(grep -c . "$work/found") axioms"
