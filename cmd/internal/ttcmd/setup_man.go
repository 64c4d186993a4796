package ttcmd

import (
	"context"
	"os"
	"path/filepath"

	"github.com/talking-stick/tt/cmd/internal/cli"
	"github.com/talking-stick/tt/cmd/internal/manual"
	"github.com/talking-stick/tt/fsroom/code"
)

// manCommand writes the manual pages; make install and make dist call it.
var manCommand = &cli.Command{
	Name:   "man",
	Hidden: true,
	Traits: cli.Traits{NoSync: true, NoSubject: true},
	Args:   []cli.Arg{{Name: "dir", Usage: "where to write them; made if it is not there"}},
	Short:  "write the manual pages",
	Run:    runMan,
}

// A manResult is the list of the pages that were written.
type manResult struct {
	Dir   string   `json:"dir"`
	Pages []string `json:"pages"`
}

func runMan(_ context.Context, c *cli.Invocation) error {
	dir := c.Env.Abs(c.Arg("dir"))
	pages := manual.Pages(c.Program, c.Program.BuildVersion())
	res := manResult{Dir: dir, Pages: []string{}}
	err := os.MkdirAll(dir, 0o755)
	for _, page := range pages {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, page.Name), []byte(page.Text), 0o644)
		}
		res.Pages = append(res.Pages, page.Name)
	}
	if err != nil {
		return code.New(code.Internal, "cannot write the manual pages: %v", err).Because(err)
	}
	return c.Out.Result(res, func(t *cli.Text) {
		t.Line("%s in %s", counted(len(res.Pages), "page"), dir)
	})
}
