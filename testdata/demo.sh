#!/usr/bin/env bash
# Three agents, each a real process, take turns in a scratch workspace. One is
# killed in the middle of its turn, and the next takes over from it.
set -euo pipefail

tt=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tt-demo.XXXXXX")
export TALKING_STICK_DATA_DIR=$scratch/data PATH=$(dirname "$tt"):$PATH
unset CLAUDECODE CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID CODEX_MANAGED_BY_NPM GEMINI_CLI TT_HARNESS_AGENT_ID TT_HARNESS_EXPORT
workspace=$scratch/workspace
mkdir -p "$workspace" && cd "$workspace"
printf 'module example\n' > go.mod
: > shared.txt

pids=()
finish() { kill "${pids[@]}" 2>/dev/null || true; rm -rf "$scratch"; }
trap finish EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

# An agent is a script with the name of its harness, as the real ones are: its
# processes are found by that name, and its death by the end of that process.
agent() { # agent NAME, with the body of its work on standard input
  { printf '#!/bin/sh\nname=%s\n' "$1"
    cat <<'COMMON'
tell() { sed "s/^/  $name: /"; }
COMMON
    cat; } > "$scratch/$1"
  chmod +x "$scratch/$1"
}

agent claude <<'SH'
export CLAUDECODE=1
tt join --text | head -1 | tell
tt wait --text | tell
echo "claude was here" >> shared.txt
touch "$READY"
tt release --text --status "wrote the first line" --next-action "add a second one" --artifact shared.txt:1-1=edit | tell
SH

agent codex <<'SH'
export CODEX_MANAGED_BY_NPM=1
tt wait --timeout 60s --text | tell
touch "$HOLDING"
echo "codex was here" >> shared.txt
until [ -e "$CROWD" ]; do sleep 0.05; done
tt release --text --status "wrote the second line" --next-action "add a third one" --question "is three enough?" | tell
tt wait --timeout 60s --text | tell
tt take --text --reason "gemini ended in the middle of its turn" | tell
echo "codex finished for gemini" >> shared.txt
tt release --text --status "the third line is there" --next-action "nothing is left to do" | tell
SH

agent gemini <<'SH'
export GEMINI_CLI=1
tt wait --timeout 60s --text | tell
touch "$WORKING"
echo "  gemini: working …"
exec sleep 60
SH

export READY=$scratch/ready HOLDING=$scratch/holding CROWD=$scratch/crowd WORKING=$scratch/working
until_there() { # wait for a file, or for the room to say something
  for _ in $(seq 600); do [ -e "$1" ] && return; sleep 0.05; done
  echo "demo: gave up waiting for $1" >&2; exit 1
}
waiting() { # wait until an agent waits for the turn
  for _ in $(seq 600); do
    tt state --text 2>/dev/null | grep -q "$1:.*waiting" && return; sleep 0.05
  done
  echo "demo: $1 never waited" >&2; exit 1
}

say "claude opens the room and takes the first turn"
"$scratch/claude" & pids+=($!)
until_there "$READY"
wait "${pids[0]}"

say "codex takes it up, gemini waits behind it"
"$scratch/codex" & pids+=($!); codex=$!
until_there "$HOLDING"
"$scratch/gemini" & pids+=($!); gemini=$!
waiting gemini
touch "$CROWD"
until_there "$WORKING"
waiting codex

say "gemini holds the stick"
tt state --text
say "its process is killed, and codex takes over"
kill -9 "$gemini"
wait "$gemini" 2>/dev/null || true
wait "$codex"

say "what happened, from the journal"
tt events --text
say "the file they shared"
cat shared.txt
say "is everything whole?"
tt doctor --text
