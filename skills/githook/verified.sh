# Refuses a commit unless the job NAME has passed on exactly what is committed.
# Skip it once with: git commit --no-verify
if command -v tt >/dev/null 2>&1; then
  tt_said=ASK --verified NAME --commit --text END && tt_code=0 || tt_code=$?
  if [ "$tt_code" != 0 ]; then
    printf '%s\n' "$tt_said" >&2
    echo 'tt: commit refused, it is not verified by the job "NAME"; skip this check once with "git commit --no-verify"' >&2
    exit 1
  fi
  unset tt_said tt_code
fi
