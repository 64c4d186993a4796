#!/usr/bin/env bash
# Three agents, each a real process, work in one scratch tree: one is refused, one run of the tests answers two, one is
# killed in the middle of its turn, and work that a git reset --hard threw away comes back.
set -euo pipefail

tt=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tt-demo.XXXXXX")
export TALKING_STICK_DATA_DIR=$scratch/data PATH=$(dirname "$tt"):$PATH
unset CLAUDECODE CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID CODEX_MANAGED_BY_NPM GEMINI_CLI TT_HARNESS_AGENT_ID TT_HARNESS_EXPORT \
  TALKING_STICK_LEDGER TALKING_STICK_ENGINE GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
export GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.org GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.org
export TESTS=$scratch/tests
mkdir -p "$scratch/workspace" && cd "$scratch/workspace"
printf 'package parse\n' > parse.go
cat > slow-test <<'SH'
#!/bin/sh
echo run >> "$TESTS"
sleep 3
SH
chmod +x slow-test
git init -q && git add -A && git commit -qm 'the beginning'

pids=()
finish() { kill "${pids[@]}" 2>/dev/null || true; rm -rf "$scratch"; }
trap finish EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }
check() { "$@" || { echo "demo: not so: $*" >&2; exit 1; }; }

# An agent is a script with the name of its harness, as the real ones are: its processes are found by that name, and
# its death by the end of that process. It does one task after the other, which it is given as files.
agent() { # agent NAME VARIABLE, which the harness sets for its commands
  printf '#!/bin/bash\nexport %s=1\n' "$2" > "$scratch/$1"
  cat >> "$scratch/$1" <<'SH'
name=$(basename "$0")
tell() { sed "s/^/  $name  /"; }
run() {
  line='$'
  for word; do case $word in *' '*) line="$line '$word'" ;; *) line="$line $word" ;; esac; done
  echo "$line" | tell
  "$@" 2>&1 | tell
}
n=0
while :; do
  n=$((n + 1))
  until [ -e "$0.$n" ]; do sleep 0.02; done
  . "$0.$n"
  touch "$0.$n.done"
done
SH
  chmod +x "$scratch/$1"
  "$scratch/$1" & pids+=($!)
  eval "$1=$!; $1_tasks=0"
}
begin() { # begin NAME: the agent does the task on standard input
  local count="$1_tasks"
  eval "$count=$(($count + 1))"
  cat > "$scratch/task" && mv "$scratch/task" "$scratch/$1.${!count}"
}
ended() { # wait until the agent has done its last task
  local count="$1_tasks"
  until_there "$scratch/$1.${!count}.done"
}
do_() { begin "$1"; ended "$1"; }
until_there() {
  for _ in $(seq 1500); do [ -e "$1" ] && return; sleep 0.02; done
  echo "demo: gave up waiting for $1" >&2; exit 1
}
waiting() { # wait until an agent waits for the turn
  for _ in $(seq 600); do
    tt state --text 2>/dev/null | grep -q "$1:.*waiting" && return; sleep 0.05
  done
  echo "demo: $1 never waited" >&2; exit 1
}

agent claude CLAUDECODE
agent codex CODEX_MANAGED_BY_NPM
agent gemini GEMINI_CLI

say "1. Two agents in one tree: claude has the turn, and writes"
do_ claude <<'SH'
run tt wait --text
run sh -c 'echo "func Parse() {}" >> parse.go'
SH

say "2. codex is about to write too. Its harness asks the hook before, and the write is refused"
do_ codex <<'SH'
patch='*** Begin Patch\n*** Add File: lexer.go\n+package parse\n*** End Patch'
printf '{"cwd":"%s","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"%s"}}' "$PWD" "$patch" |
  tt hook edit --harness codex | sed -n 's/.*"permissionDecisionReason":"\([^"]*\)".*/refused: \1/p' | tee "$TESTS.refused" | fold -s -w 100 | tell
SH
check grep -q refused "$scratch/tests.refused"

say "3. codex waits, which costs nothing. claude hands on, and codex begins with what it says"
begin codex <<'SH'
run tt wait --timeout 60s --text
SH
waiting codex
do_ claude <<'SH'
run tt release --text --status "Parse is there" --next-action "write the lexer"
SH
ended codex
do_ codex <<'SH'
run sh -c 'echo "package parse" > lexer.go'
SH

say "4. All three want to know whether the tests pass on this tree. They run once"
do_ codex <<'SH'
run tt job run test --once --text -- ./slow-test
SH
do_ claude <<'SH'
run tt job run test --once --text -- ./slow-test
tt job wait test >/dev/null
SH
do_ gemini <<'SH'
tt join --text >/dev/null
run tt job run test --once --text -- ./slow-test
SH
check test "$(wc -l < "$TESTS")" -eq 1

say "5. gemini is next, and its process is killed in the middle of its turn. codex takes over"
begin gemini <<'SH'
run tt wait --timeout 60s --text
echo "half a thought" > notes.txt
touch "$0.holds"
exec sleep 60
SH
waiting gemini
do_ codex <<'SH'
run tt release --text --status "the lexer is there, tests pass" --next-action "write notes.txt"
SH
until_there "$scratch/gemini.holds"
kill -9 "$gemini"
wait "$gemini" 2>/dev/null || true
do_ codex <<'SH'
tt wait --timeout 60s --text >/dev/null
run tt take --text --reason "gemini ended in the middle of its turn"
SH

say "6. Somebody runs git reset --hard and git clean. Nothing of the three was committed; one command brings it back"
do_ codex <<'SH'
run git reset --hard
run git clean -fd
run ls
run tt restore --lost --text
run ls
run tt release --text --status "all is back" --next-action "nothing is left to do"
SH
check grep -q Parse parse.go
check test -s lexer.go -a -s notes.txt

say "What happened, as the journal has it, and whether all is whole"
tt log --text | grep -E '  (turn [0-9]|job|Restore)'
tt doctor --text | tail -n 1
cat <<'END'

Next:
  make install              tt, into ~/.local/bin
  tt install --all          hooks and a skill for the agents that are here; --dry-run shows them first
Then start two agents in one directory and let them work; tt console shows them.
END
