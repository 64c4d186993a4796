package instructions

// An Opener knows what a desktop has to open a text file with.
type Opener struct {
	GOOS     string
	Getenv   func(name string) string
	LookPath func(name string) (string, error)
}

// Command returns the command that opens path for a user who has chosen no
// editor, nil if there is none: then all one can do is to say where the file is.
func (o Opener) Command(path string) []string {
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
