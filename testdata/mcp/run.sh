#!/usr/bin/env bash
# Lets real clients loose on agent-bus: the TypeScript SDK, and the Inspector's
# command line in both eras of the protocol. Usage: run.sh AGENT-BUS
#
# What it needs from npm goes into a cache directory, at the versions that
# package.json names. Without node and npm it says so and does nothing; where
# CI=true it fails then.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { echo "usage: $0 AGENT-BUS" >&2; exit 2; }
bus=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
[ -x "$bus" ] || { echo "$0: there is no program $bus" >&2; exit 2; }

skip() { # skip WHY: the tests cannot run here
  echo "SKIPPED: the tests with real MCP clients need $*" >&2
  [ "${CI:-}" != true ] || exit 1
  exit 0
}
for program in node npm; do
  command -v "$program" >/dev/null 2>&1 || skip "$program, which is not installed"
done
node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' || skip "node 20 or newer, and this is $(node --version)"

cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/agent-bus-clients-$(cksum < "$here/package.json" | cut -d' ' -f1)
if [ ! -e "$cache/complete" ]; then
  mkdir -p "$cache"
  cp "$here/package.json" "$cache/"
  (cd "$cache" && npm install --no-package-lock --no-audit --no-fund --loglevel=error) || skip "packages that npm could not fetch"
  : > "$cache/complete"
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/agent-bus-clients.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# The Inspector writes into the home directory.
export HOME=$scratch AGENT_BUS_DATA_DIR=$scratch/data NO_COLOR=1

# Node looks for packages beside the program.
cp "$here/drive.mjs" "$cache/drive.mjs"
node "$cache/drive.mjs" "$bus"

# It hands only what -e names on to the server.
inspect() { "$cache/node_modules/.bin/mcp-inspector" --cli --format json -q -e "AGENT_BUS_DATA_DIR=$AGENT_BUS_DATA_DIR" "$@"; }
fail() { echo "FAIL: $*" >&2; exit 1; }
has() { # has WORD: the last result has it
  grep -qF -- "$1" "$scratch/out" || fail "$1 is not in $(cat "$scratch/out")"
}

for era in legacy modern; do
  inspect "$bus" --protocol-era "$era" --method tools/list --strict > "$scratch/out" 2> "$scratch/err" || fail "tools/list --strict, $era: $(cat "$scratch/out" "$scratch/err")"
  has '"name":"question_mark_answered"'
  echo "ok  Inspector, $era: the schemas are portable"

  inspect "$bus" --protocol-era "$era" --method tools/call --tool-name topic_create --tool-args-json '{"name":"blue"}' > "$scratch/out" || fail "topic_create, $era"
  has '"name":"blue"'
  status=0
  inspect "$bus" --protocol-era "$era" --method tools/call --tool-name ask --tool-args-json '{"topic_id":"nope","question":"why?"}' > "$scratch/out" 2>/dev/null || status=$?
  [ "$status" = 5 ] || fail "an error ended with $status, $era"
  has 'AGENT_NOT_JOINED'
  echo "ok  Inspector, $era: calls and errors"
done
[ "$("$bus" cli topics list --json | grep -o '"name":"blue"' | wc -l)" = 1 ] || fail "two topics of one name"
echo "ok  all clients"
