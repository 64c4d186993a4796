package hooks

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/hooks/guard"
	"github.com/talking-stick/tt/cmd/internal/hooks/payload"
	"github.com/talking-stick/tt/cmd/internal/hooks/shell"
	"github.com/talking-stick/tt/cmd/internal/member"
	"github.com/talking-stick/tt/fsroom/workspace"
	"github.com/talking-stick/tt/identity"
)

// shell refuses a command that would write while another agent has the stick.
func (h *run) shell(ctx context.Context) error {
	if h.call.Command == "" {
		return nil
	}
	h.call.Dir = h.Env.Abs(h.call.Dir)
	return h.permit(ctx, func(rooms *rooms) (string, []guard.Write, *guard.Stick) {
		return guard.Shell(ctx, h.call, shellEnv(ctx, h.call.Dir, h.Env.Lookup, h.Env.Home), rooms, gitIgnores)
	})
}

// keepsPlace records that the session works where its command runs, to read is a sign of life, too. It reports whether it has
// a place there.
func (h *run) keepsPlace() bool {
	w, err := h.Locate(h.call.Dir)
	agent, unknown := h.sessionAgent()
	return err == nil && unknown == nil && placesIn(w.Root, agent.Client).keep()
}

// recordBefore takes a snapshot of each tree in which the tool is about to write. Of paths that are in no room only those
// in the tree of the session or in a repository, which git does not ignore, count.
func (h *run) recordBefore(ctx context.Context, writes []guard.Write) {
	var all sync.WaitGroup
	defer all.Wait()
	sort.SliceStable(writes, func(i, j int) bool { return writes[j].Destroys < writes[i].Destroys }) // those that destroy first
	done := map[string]bool{}
	for _, x := range writes {
		path := x.Path
		w, err := h.Locate(nearestDir(path))
		if err != nil || done[w.Root] {
			continue
		}
		room, seen, err := h.Client(h.store, identity.Agent{}).Find(w, nil)
		record := func() { room.Recorder(seen.State).Before(ctx, seen.State, x.Files, x.Destroys) }
		if err == nil && room == nil {
			here, elsewhere := h.Locate(h.call.Dir)
			if top(w.Root) != w.Root && (elsewhere != nil || here.Root != w.Root) || path != w.Root && gitIgnores(ctx, w.Root, []string{path})[0] {
				continue
			}
			record = func() { h.RecordAlone(ctx, h.store, w.Root, x.Destroys) }
		}
		if err == nil {
			done[w.Root] = true
			all.Go(record)
		}
	}
}

// JudgeCommand judges a command that the client's agent would run in a directory.
func JudgeCommand(ctx context.Context, env *cli.Env, client *member.Client, locate func(string) (*workspace.Workspace, error),
	dir, command string) guard.Judgement {
	r := newRooms(client, locate, env.Lookup)
	r.callers = []func() (identity.Agent, error){func() (identity.Agent, error) { return client.Self, nil }}
	return guard.JudgeCommand(ctx, payload.Call{Dir: dir, Command: command}, shellEnv(ctx, dir, env.Lookup, env.Home), r, gitIgnores)
}

// shellEnv is what is known of the place where a command would run.
func shellEnv(ctx context.Context, dir string, lookup func(string) string, home string) shell.Env {
	return shell.Env{
		Dir: filepath.ToSlash(dir), Home: filepath.ToSlash(home), Lookup: lookup, Top: top,
		Alias: func(name string) string {
			out, err := gitCommand(ctx, dir, "config", "--get", "alias."+name)
			if err != nil {
				return ""
			}
			return strings.TrimSpace(out)
		},
	}
}

// top returns the directory above dir, or dir itself, that has a repository; "" if none has.
func top(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// GitPatience is how long a guard waits for git, which takes a few milliseconds. Tests allow more.
var GitPatience = 2 * time.Second

func gitCommand(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, GitPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	return string(out), err
}

// usuallyIgnored are directories that count as ignored where there is no git to ask.
var usuallyIgnored = []string{"node_modules", "target", "dist", "build", ".venv", "__pycache__"}

// gitIgnores is a [guard.Ignored]. A directory that is not there yet is ignored only with a
// slash behind its name. A path that leads out of the tree counts as ignored. Where git cannot tell, as in a repository
// that belongs to another user, or is not there, names decide.
func gitIgnores(ctx context.Context, root string, paths []string) []bool {
	ignored := make([]bool, len(paths))
	named, told, again := map[string]bool(nil), false, top(root) != ""
	if again {
		named, told, again = checkIgnore(ctx, root, paths)
	}
	for i, path := range paths {
		of, told := named, told
		if again { // it may be for another path
			of, told, _ = checkIgnore(ctx, root, paths[i:i+1])
		}
		ignored[i] = of[path] || of[path+"/"] || !told && isElsewhere(root, path)
	}
	return ignored
}

// isElsewhere reports whether the path has a name that is usually ignored, or leads out of the tree by a link.
func isElsewhere(root, path string) bool {
	rest, _ := filepath.Rel(root, path)
	isUsual := func(part string) bool { return slices.Contains(usuallyIgnored, part) }
	real, err := filepath.EvalSymlinks(nearestDir(filepath.Dir(path)))
	below, _ := filepath.Rel(root, real)
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(rest), "/"), isUsual) || err == nil && !filepath.IsLocal(below)
}

// checkIgnore returns those of paths that git ignores. told is whether git could tell, and again whether it might of other
// paths.
func checkIgnore(ctx context.Context, root string, paths []string) (named map[string]bool, told, again bool) {
	args := []string{"check-ignore", "--"}
	for _, path := range paths {
		args = append(args, path)
		if info, err := os.Lstat(path); err != nil || info.IsDir() {
			args = append(args, path+"/")
		}
	}
	out, err := gitCommand(ctx, root, append([]string{"-c", "core.quotePath=off"}, args...)...)
	named = map[string]bool{}
	for line := range strings.Lines(out) {
		named[strings.TrimSuffix(line, "\n")] = true
	}
	exit, failed := err.(*exec.ExitError)
	return named, err == nil || failed && exit.ExitCode() == 1, failed && exit.ExitCode() > 1
}
