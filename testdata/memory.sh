#!/bin/sh
# memory.sh COMMAND...: runs it with its temporary files in memory, and removes them afterwards. They
# are where they always are if the caller has set TMPDIR, or if there are no 2 GiB of memory in
# which programs can be run.
trap '[ -z "$dir" ] || rm -rf "$dir"' EXIT
trap : HUP INT TERM
dir=
if [ -z "$TMPDIR" ] && free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }') && [ "${free:-0}" -ge 2097152 ]; then
	# The name is the same each time, for what go test keeps is for one TMPDIR.
	dir=/dev/shm/tt.$(pwd | cksum | cut -d' ' -f1)
	mkdir "$dir" 2>/dev/null || dir=$(mktemp -d /dev/shm/tt.XXXXXX) || dir=
	if [ -n "$dir" ] && chmod 711 "$dir" && # for the tests that are another user
		printf '#!/bin/sh\n' >"$dir/run" && chmod +x "$dir/run" && "$dir/run" 2>/dev/null; then
		export TMPDIR="$dir"
	fi
fi
"$@"
