package instructions

// An Opener finds the program with which a desktop opens a text file.
type Opener struct {
	GOOS     string
	Getenv   func(name string) string
	LookPath func(name string) (string, error)
}

// Command returns the command that opens path for a user who has not chosen an
// editor, nil if there is none.
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
