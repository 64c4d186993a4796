package shell

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
)

// What stands in a value for a part of a name that a pattern leaves open. As a whole name, anyDepth is any
// number of directories, and anyShown those whose names begin with no dot.
const (
	anyName   = "\x01"
	anyLetter = "\x02"
	anyDepth  = anyName + anyName
	anyShown  = anyDepth + anyName
)

var oneOfPattern = strings.NewReplacer("/"+anyShown+"/", "/", "/"+anyDepth+"/", "/", "/"+anyShown, "", "/"+anyDepth, "", anyName, "x", anyLetter, "x")

// plain returns one path that a pattern may match, or the text without what stands for patterns.
func plain(s string) string {
	if !strings.ContainsAny(s, anyName+anyLetter) {
		return s
	}
	return cmp.Or(oneOfPattern.Replace(strings.ReplaceAll(s, "/"+anyDepth+"/"+anyDepth, "/"+anyDepth)), "/")
}

// Reach returns where the effect changes more than Path, none if it does not: paths and patterns of paths. See [Reaches].
func (e Effect) Reach() []string {
	return strings.FieldsFunc(e.reach, func(r rune) bool { return r == 0 })
}

// Beginning returns the directory in which everything is that a pattern of [Effect.Reach] matches.
func Beginning(pattern string) string {
	i := strings.IndexAny(pattern, anyName+anyLetter)
	if i < 0 {
		return pattern
	}
	return path.Dir(pattern[:i] + "x")
}

// Reaches reports whether the effect, by one of the patterns of its reach, may change something in a directory, and
// which of the paths there, "" if that is not known or all of them.
func (e Effect) Reaches(pattern, dir string) (below string, ok bool) {
	program, _, _ := strings.Cut(e.Op, " ")
	return matches(parts(pattern), parts(dir), e.Git || e.Below, e.Git || e.Below || slices.Contains([]string{"mv", "trash"}, program))
}

func parts(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// matches is [Effect.Reaches]. all is whether what is below a match counts, and itself whether the directory does.
func matches(pattern, dir []string, all, itself bool) (below string, ok bool) {
	switch {
	case len(pattern) == 0 && len(dir) == 0:
		return "", itself
	case len(pattern) == 0:
		return "", all
	case pattern[0] == anyDepth, pattern[0] == anyShown:
		isHidden := pattern[0] == anyShown && len(dir) > 0 && strings.HasPrefix(dir[0], ".")
		if isHidden && len(pattern) == 1 {
			return "", false
		}
		if below, ok = matches(pattern[1:], dir, all, itself); ok || len(dir) == 0 || isHidden {
			return below, ok || len(pattern) == 1
		}
		return matches(pattern, dir[1:], all, itself)
	case len(dir) == 0:
		return strings.TrimPrefix(plain("/"+strings.Join(pattern, "/")), "/"), true
	case !isName(pattern[0], dir[0]):
		return "", false
	}
	return matches(pattern[1:], dir[1:], all, itself)
}

// isName reports whether a name matches a pattern. As in a shell, only a dot matches a dot at its beginning.
func isName(pattern, name string) bool {
	return (!strings.HasPrefix(name, ".") || strings.HasPrefix(pattern, ".")) && isLike(pattern, name)
}

func isLike(pattern, text string) bool {
	head, tail, open := strings.Cut(pattern, anyName)
	if len(text) < len(head) || !open && len(text) != len(head) {
		return false
	}
	for i := range []byte(head) {
		if head[i] != text[i] && head[i] != anyLetter[0] {
			return false
		}
	}
	if !open || tail == "" {
		return true
	}
	for i := len(head); i <= len(text); i++ {
		if isLike(tail, text[i:]) {
			return true
		}
	}
	return false
}

// reach returns what [Effect.Reach] does, for an effect on a path or pattern. What git changes is in the whole
// working tree, unless the effect says otherwise.
func (w *walker) reach(e Effect, at string) string {
	switch {
	case e.Git && e.Below:
		return w.tree(at)
	case !e.Git && (e.Below || strings.ContainsAny(at, anyName+anyLetter)):
		return at
	}
	return ""
}

// tree returns the working tree that a directory is in.
func (w *walker) tree(dir string) string {
	if w.env.Top != nil {
		if top := w.env.Top(plain(dir)); top != "" {
			return top
		}
	}
	return dir
}

// paths returns the reach of a command of git that may name paths: those, the whole tree, or "" if it changes no file
// and nothing that the index has of one.
func (c *call) paths(r rule) string {
	least := r.list("paths")
	if least == nil {
		return ""
	}
	words := c.words
	n, _ := strconv.Atoi(least[0])
	if i := slices.IndexFunc(c.args, func(a value) bool { return a.text == "--" }); i >= 0 {
		words = c.args[i+1:]
	} else if len(words) < n && slices.ContainsFunc(words, func(v value) bool { return !strings.HasPrefix(v.text, ".") }) {
		words = nil
	}
	if n == 0 && len(words) == 0 {
		words = []value{here}
	}
	var all []string
	for _, v := range words {
		at, ok := c.w.locate(c.sc, v)
		if !ok || strings.HasPrefix(v.text, ":") || strings.ContainsAny(v.text, "*?[") {
			words = nil
			break
		}
		all = append(all, at)
	}
	whole := r.list("whole")
	switch {
	case len(words) > 0:
		return strings.Join(all, "\x00")
	case whole != nil && !c.says(whole) || c.sc.dir == "":
		return ""
	}
	return c.w.tree(c.sc.dir)
}

// forcedTwice reports whether git clean removes other repositories, too.
func (c *call) forcedTwice() bool {
	n := 0
	for _, a := range c.args {
		if a.text == "--force" {
			n++
		} else if strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") {
			n += strings.Count(a.text, "f")
		}
	}
	return n > 1
}
