package instructions

import "strings"

// An Opener knows what there is to open a file with.
type Opener struct {
	GOOS     string
	Getenv   func(name string) string
	LookPath func(name string) (string, error)
}

// Command returns the command that opens path in the user's editor, nil if there
// is none: then all one can do is to say where the file is.
func (o Opener) Command(path string) []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(o.Getenv(name)); len(words) > 0 {
			return append(words, path)
		}
	}
	switch {
	case o.GOOS == "darwin":
		return []string{"open", "-t", path}
	case o.GOOS == "windows":
		return []string{"notepad.exe", path}
	case o.Getenv("DISPLAY") != "" || o.Getenv("WAYLAND_DISPLAY") != "":
		if _, err := o.LookPath("xdg-open"); err == nil {
			return []string{"xdg-open", path}
		}
	}
	return nil
}
