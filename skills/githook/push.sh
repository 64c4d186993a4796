# Refuses a push while the talking stick that this workspace shares with other hosts is not yours.
# Skip it once with: git push --no-verify
tt_engine=${TALKING_STICK_ENGINE-ENGINE} tt_room=${TALKING_STICK_ROOM-ROOM}
tt_said=ASK --json END && tt_code=0 || tt_code=$?
case "$tt_code:$tt_said" in
  0:*'"holds":true'*) tt_why= ;;
  1:*'"holds":false'*'"shared":true'*)
    tt_why=$(printf '%s\n' "$tt_said" | sed -n 's/.*"current_owner":"\([^"]*\)".*/tt: \1 holds the stick/p')
    printf '%s\n' "${tt_why:-tt: you have no turn with a live lease}" >&2
    tt_why='you do not hold the talking stick here; wait for it with "tt wait", or' ;;
  1:*'"holds":false'*) tt_why= ;;
  1:*'"error":"no_shared_identity"'*'"file":'* | 1:*'"error":"engine_'*) tt_why=unknown ;;
  1:*'"error":"no_shared_identity"'*) tt_why= ;;
  *) tt_why=${tt_engine:+unknown} ;;
esac
if [ "$tt_why" = unknown ]; then
  [ "$tt_code" != 137 ] || tt_said='tt: it did not answer and was ended'
  printf '%s\n' "$tt_said" | sed 's/.*"message":"/tt: /;s/",".*//;s/"}.*//' >&2
  tt_why='it is not known whether you hold the talking stick;'
fi
if [ -n "$tt_why" ]; then
  echo "tt: push refused, $tt_why skip this check once with \"git push --no-verify\"" >&2
  exit 1
fi
unset tt_engine tt_room tt_said tt_code tt_why
