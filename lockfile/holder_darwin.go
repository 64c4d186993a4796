package lockfile

func findHolder(string, string) (*Holder, bool) { return nil, false }
