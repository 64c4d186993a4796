#!/usr/bin/env bash
# Makes docs/report.png: the report of an invented history, as chromium shows it.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go run ./cmd/internal/report/testdata/sample 55 > "$work/report.html"
root=(); [ "$(id -u)" != 0 ] || root=(--no-sandbox)
chromium --headless=new "${root[@]}" --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --virtual-time-budget=3000 \
  --blink-settings=preferredColorScheme=1 --window-size=1440,960 --screenshot="$PWD/docs/report.png" "file://$work/report.html" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
ls -l docs/report.png
