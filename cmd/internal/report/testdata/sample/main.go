// Command sample prints the report of an invented history of a room, or with -journal its
// events, for the picture in README.md and for measurements:
//
//	go run ./cmd/internal/report/testdata/sample 55 > report.html
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/talking-stick/tt/cmd/internal/report/model"
	"github.com/talking-stick/tt/cmd/internal/report/page"
	"github.com/talking-stick/tt/cmd/internal/report/reporttest"
)

func main() {
	journal := flag.Bool("journal", false, "print the events, as a journal has them")
	flag.Parse()
	turns := 55
	if flag.NArg() > 0 {
		n, err := strconv.Atoi(flag.Arg(0))
		if err != nil {
			fail(err)
		}
		turns = n
	}
	var b model.Builder
	var lines []byte
	var last time.Time
	for e := range reporttest.Events(turns) {
		b.Add(e)
		lines = e.Append(lines)
		last = e.CreatedAt.Time
	}
	if !*journal {
		for e := range reporttest.Questions() {
			b.AddQuestion(e)
		}
		var err error
		if lines, err = page.Render(b.Model(model.Options{Now: last.Add(6 * time.Minute).UnixMilli()}), ""); err != nil {
			fail(err)
		}
	}
	if _, err := os.Stdout.Write(lines); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
