#!/usr/bin/env bash
# Fuzzes every decoder, all side by side, each on one processor at most.
# Usage: fuzz.sh TIME [REGEXP], with TIME as in 60s or 10m and REGEXP for the
# targets that are meant, as in "fsroom/turn FuzzHandoff".
#
# What makes a target fail is left in testdata/fuzz of its package. Once it is
# committed there, every "go test" runs it.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: $0 TIME [REGEXP]" >&2; exit 2; }
time=$1 only=${2:-.}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
logs=$(mktemp -d "${TMPDIR:-/tmp}/tt-fuzz.XXXXXX")
set -m # each target is a process group, which ends as a whole
finish() { for job in $(jobs -p); do kill -- "-$job" 2>/dev/null || true; done; rm -rf "$logs"; }
trap finish EXIT
trap 'exit 130' INT TERM HUP

targets=$(grep -rE --include='*_test.go' '^func Fuzz' . | sed -E 's|^\./(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | grep -E -- "$only" | sort) ||
  { echo "no fuzz target is called $only" >&2; exit 2; }

# Looking for a shorter input that does the same is bounded: it would take most of
# the time otherwise.
fuzz() { # PACKAGE TARGET
  GOMAXPROCS=1 ${GO:-go} test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 100x -parallel 1 "./$1"
}

while read -r package target; do
  log=$logs/${package//\//-}-$target
  { fuzz "$package" "$target" > "$log" 2>&1 && touch "$log.good"; } &
done <<< "$targets"
wait

failed=0
while read -r package target; do
  log=$logs/${package//\//-}-$target
  if [ -e "$log.good" ]; then
    runs=$(sed -nE 's/.*execs: ([0-9]+).*/\1/p' "$log" | tail -n 1)
    printf '%-16s %-18s %s runs\n' "$package" "$target" "${runs:-0}"
    continue
  fi
  failed=1
  printf '\n%s %s FAILED\n' "$package" "$target"
  grep -v '^fuzz: elapsed' "$log"
  echo "The input is in $package/testdata/fuzz/$target. Put it right and commit it: go test runs it from then on."
done <<< "$targets"
exit $failed
