package shell

import (
	"path"
	"strings"
)

// containerFlags are the flags of docker run that have a value.
var containerFlags = strings.Fields("-v --volume --mount -w --workdir -e --env --env-file -p --publish --name -u --user --entrypoint --network --net " +
	"--platform -h --hostname --add-host -l --label --cpus -m --memory --gpus --pull --restart --shm-size --tmpfs --ulimit --device --cap-add --ipc --pid")

// A mount is a directory that a container may write.
type mount struct {
	from value
	at   string
}

// container follows docker run: what its command changes counts where a directory is mounted.
func (c *call) container() {
	o := parse(c.args[1:], containerFlags, true)
	inner := &walker{env: Env{Dir: "/", Home: "/root"}, steps: c.w.steps, depth: c.w.depth, in: c.w.in}
	var mounts []mount
	for _, v := range o.values {
		switch v.flag {
		case "-v", "--volume", "--mount":
			if m, ok := mountOf(v.value, v.flag == "--mount"); ok {
				mounts = append(mounts, m)
			}
		case "-w", "--workdir":
			inner.env.Dir = v.value.text
		}
	}
	if len(mounts) == 0 || len(o.words) == 0 {
		return
	}
	words := o.words[1:]
	if v, ok := o.value("--entrypoint"); ok {
		words = append([]value{v}, words...)
	}
	if len(words) == 0 {
		c.w.unknown(c.name + " run")
	}
	inner.run(newScope(inner.env.Dir), words)
	c.w.steps = inner.steps
	for _, what := range inner.result.Unknown {
		c.w.unknown(what)
	}
	for _, e := range inner.result.Effects {
		for _, m := range mounts {
			to := m.from
			if rest, ok := strings.CutPrefix(e.Path+"/", strings.TrimSuffix(m.at, "/")+"/"); ok {
				to = to.plus(value{text: strings.TrimSuffix("/"+rest, "/")})
			} else if !e.Below || !strings.HasPrefix(m.at+"/", strings.TrimSuffix(e.Path, "/")+"/") {
				continue
			}
			e.reach = ""
			c.effect(e, to)
		}
	}
}

// mountOf takes a mount apart, and reports whether it is a directory that may be written.
func mountOf(v value, long bool) (m mount, ok bool) {
	parts := strings.Split(v.text, ":")
	if long {
		parts = make([]string, 3)
		for part := range strings.SplitSeq(v.text, ",") {
			switch key, text, _ := strings.Cut(part, "="); key {
			case "source", "src":
				parts[0] = text
			case "target", "destination", "dst":
				parts[1] = text
			case "readonly", "ro":
				parts[2] = "ro"
			}
		}
	}
	isPath := len(parts) > 1 && strings.ContainsAny(parts[0], "/.")
	isReadOnly := len(parts) > 2 && strings.Contains(","+parts[2]+",", ",ro,")
	if v.open || !isPath || isReadOnly {
		return mount{}, false
	}
	return mount{value{text: parts[0]}, path.Clean(parts[1])}, true
}
