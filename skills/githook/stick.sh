# Refuses a WHAT while the talking stick of this workspace is not yours.
# Skip it once with: git WHAT --no-verify
if command -v tt >/dev/null 2>&1UNLESS; then
  tt_said=ASK --json END && tt_code=0 || tt_code=$?
  case "$tt_code:$tt_said" in
    1:*'"reason":"no_room"'*) ;;
    1:*'"holds":false'*)
      tt_said=ASK --text END || :
      printf '%s\n' "$tt_said" >&2
      echo 'tt: WHAT refused, you do not hold the talking stick here; wait for it with "tt wait"' >&2
      exit 1
      ;;
  esac
  unset tt_said tt_code
fi
