package instructions

// Opener returns the command with which the desktop of a system opens a text file, for a user
// who has not chosen an editor; nil if there is none.
func Opener(goos, path string, getenv func(string) string, lookPath func(string) (string, error)) []string {
	switch {
	case goos == "darwin":
		return []string{"open", "-t", path}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		if _, err := lookPath("xdg-open"); err == nil {
			return []string{"xdg-open", path}
		}
	}
	return nil
}
