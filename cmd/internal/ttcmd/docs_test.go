package ttcmd

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// pages are the documents with commands in them, relative to the top directory.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil || len(found) < 5 {
		t.Fatalf("%v, %v", found, err)
	}
	return append(found, filepath.Join("..", "..", "..", "README.md"))
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The sh blocks of a page run in order in one shell, as a reader runs them. A text
// or json block right below one is what it prints, but for numbers, ids and times.
// A block that is not to run is console, or says why behind its language.
func TestPagesRun(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"git", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			missingTool(t, tool)
		}
	}
	for _, page := range pages(t) {
		if filepath.Base(page) == "hosts.md" {
			continue // it needs a server: cmd/tt-nats runs it
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			runPage(t, readPage(t, page), "TALKING_STICK_LEDGER=") // as users run it
		})
	}
}

func runPage(t *testing.T, page string, env ...string) {
	const mark = "=== end of block ==="
	var script strings.Builder
	var shown []string // what each sh block is to print, "" for anything
	last := ""
	for _, b := range blocks(page) {
		language, why, _ := strings.Cut(b.language, " ")
		switch language {
		case "sh":
			if why != "" {
				language = "console"
				break
			}
			script.WriteString(b.text + "\necho '" + mark + "'\n")
			shown = append(shown, "")
		case "text", "json":
			if last == "sh" && why == "" {
				shown[len(shown)-1] = b.text
			}
		case "shell", "bash", "":
			t.Errorf("a block is %q: say sh if it runs here, console if it does not", b.language)
		}
		last = language
	}
	if len(shown) == 0 {
		return
	}
	s := newScratch(t, env...)
	root := filepath.Dir(s.dir)
	s.dir = filepath.Join(root, "demo")
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(script.String(), "\ntt install ") { // harnesses are here where a page installs something in them
		for _, harness := range []string{".claude", ".codex"} {
			if err := os.Remove(filepath.Join(root, "home", harness)); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, failure := s.command("exec 2>&1\n" + script.String()).Output()
	printed := strings.Split(string(out), mark+"\n")
	host, _ := os.Hostname()
	person, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	places := strings.NewReplacer(root+"/data", "/tmp/demo/data", root+"/home", "/tmp/demo/home", s.dir, "/tmp/demo",
		strings.ReplaceAll(s.dir[1:], "/", "-"), "tmp-demo", "human:"+person.Username, "human:alex", host, "box")
	for i, got := range printed[:len(printed)-1] {
		got, want := places.Replace(got), shown[i]
		if want != "" && normalized(got) != normalized(want) {
			t.Errorf("block %d prints\n%s\nthe page shows\n%s\n\ncompared were\n%s\n%s", i+1, got, want, normalized(got), normalized(want))
		}
	}
	if failure != nil {
		t.Errorf("block %d: %v\n%s", len(printed), failure, printed[len(printed)-1])
	}
}

var (
	uuid    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hash    = regexp.MustCompile(`\b[0-9a-f]{8,16}\b`)
	day     = regexp.MustCompile(`\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ `)
	numbers = regexp.MustCompile(`(\d+(\.\d+)?(ns|µs|ms|s|m|h)?)+( (ns|µs|ms))?`)
	ago     = regexp.MustCompile(`(since )?just now|N ago|since N\b|for N\b`)
	blanks  = regexp.MustCompile(` +`)
)

// normalized is what two runs of the same commands have in common. JSON is
// compared as values: a page may break its lines.
func normalized(output string) string {
	var all strings.Builder
	for rest := strings.TrimSpace(output); rest != ""; {
		if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
			d := json.NewDecoder(strings.NewReader(rest))
			var v any
			if d.Decode(&v) == nil {
				b, _ := json.Marshal(v)
				all.Write(append(b, '\n'))
				rest = strings.TrimSpace(rest[d.InputOffset():])
				continue
			}
		}
		line, after, _ := strings.Cut(rest, "\n")
		all.WriteString(strings.TrimRight(line, " ") + "\n")
		rest = strings.TrimLeft(after, "\n")
	}
	s := uuid.ReplaceAllString(all.String(), "ID")
	s = hash.ReplaceAllString(s, "N") // some are digits alone
	s = day.ReplaceAllString(s, "DAY ")
	s = numbers.ReplaceAllString(s, "N")
	s = ago.ReplaceAllString(s, "N ago")
	return blanks.ReplaceAllString(s, " ")
}

func TestNormalized(t *testing.T) {
	for _, same := range [][2]string{
		{"lease ends in 45m", "lease ends in 1m50s"},
		{"{\"a\":\n [1]}\nstatus 3\n", "{\"a\":[22]}\nstatus 1"},
		{"seen just now", "seen 5s ago"},
		{"Nov 20 20:40:37  a", "Jan 1 01:00:00 a"},
		{"project-0bd89f85c8c9cbb7", "project-1111111111111111"},
	} {
		if normalized(same[0]) != normalized(same[1]) {
			t.Errorf("%q, %q", normalized(same[0]), normalized(same[1]))
		}
	}
	for _, different := range [][2]string{{`{"a":1}`, `{"b":1}`}, {`{"a":"x"}`, `{"a":"y"}`}, {"Released.", "Passed."}, {`{"a":1}`, `{"a":1,"b":2}`}} {
		if normalized(different[0]) == normalized(different[1]) {
			t.Errorf("%q is taken for %q", different[0], different[1])
		}
	}
}

// Every fence of a page stands alone on its line, so that what follows it is text
// again.
func TestFencesAreClosed(t *testing.T) {
	for _, page := range pages(t) {
		open := 0
		for i, line := range strings.Split(readPage(t, page), "\n") {
			if !strings.Contains(line, "```") {
				continue
			}
			if before, _, _ := strings.Cut(line, "```"); strings.TrimSpace(before) != "" && strings.Count(line, "```")%2 == 1 {
				t.Errorf("%s:%d: a fence behind text does not end a block", page, i+1)
			}
			open ^= 1
		}
		if open != 0 {
			t.Errorf("%s: a block is never closed", page)
		}
	}
}

// README names every page of docs in its list.
func TestReadmeLinksEveryPage(t *testing.T) {
	readme := readPage(t, filepath.Join("..", "..", "..", "README.md"))
	_, table, _ := strings.Cut(readme, "## Documentation\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var missing []string
	for _, page := range pages(t) {
		if link := "](docs/" + filepath.Base(page) + ")"; !strings.Contains(table, link) && filepath.Base(page) != "README.md" {
			missing = append(missing, filepath.Base(page))
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("the documentation list of README.md lacks %v", missing)
	}
}

// Who copies the lines of README for a server opens no port to everybody.
func TestReadmeServerIsNotForEverybody(t *testing.T) {
	_, section, _ := strings.Cut(readPage(t, filepath.Join("..", "..", "..", "README.md")), "\n## Several hosts\n")
	section, _, _ = strings.Cut(section, "\n## ")
	address := regexp.MustCompile(`tt-natsd --listen (\S*):`).FindStringSubmatch(section)
	if address == nil || address[1] == "" || address[1] == "0.0.0.0" || address[1] == "[::]" {
		t.Errorf("the server of README listens on %q", address)
	}
	if !strings.Contains(section, "a network you trust") {
		t.Error("README does not say for which network a server without users is")
	}
}

// Branches are merged with the lines of both for the changelog, so that an entry may come back.
func TestChangelogSaysEverythingOnce(t *testing.T) {
	seen := make(map[string]bool)
	for _, entry := range strings.Split(readPage(t, filepath.Join("..", "..", "..", "CHANGELOG.md")), "\n- ")[1:] {
		entry, _, _ = strings.Cut(entry, "\n\n")
		for _, sentence := range strings.Split(strings.Join(strings.Fields(entry), " "), ". ") {
			if sentence = strings.TrimSuffix(sentence, "."); seen[sentence] {
				t.Errorf("CHANGELOG.md says twice: %s", sentence)
			}
			seen[sentence] = true
		}
	}
	if len(seen) < 20 {
		t.Errorf("CHANGELOG.md has %d sentences", len(seen))
	}
}

// mostWords is how many words all pages may have together. Lower it with the commit that makes a page shorter.
const mostWords = 26000

// Every page has to be read by somebody.
func TestPagesAreShort(t *testing.T) {
	total := 0
	for _, page := range append(pages(t), filepath.Join("..", "..", "..", "CONTRIBUTING.md"), filepath.Join("..", "..", "..", "SECURITY.md"),
		filepath.Join("..", "..", "..", "CHANGELOG.md")) {
		words := len(strings.Fields(readPage(t, page))) // as wc counts them
		t.Logf("%6d %s", words, filepath.Base(page))
		total += words
	}
	if total > mostWords {
		t.Errorf("the pages have %d words, at most %d: say each thing once, and link to it", total, mostWords)
	}
}

var (
	linked   = regexp.MustCompile(`\]\(([^)\s#]*)(#[^)\s]*)?\)`)
	headings = regexp.MustCompile("(?m)^#+ (.*)$")
	fenced   = regexp.MustCompile("(?s)\n```.*?\n```")
)

// Links from page to page lead to a file, and those to a heading to one that is there.
func TestLinksLeadSomewhere(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	for _, page := range append(pages(t), filepath.Join(top, "CONTRIBUTING.md"), filepath.Join(top, "SECURITY.md"), filepath.Join(top, "CHANGELOG.md")) {
		for _, link := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(readPage(t, page), ""), -1) {
			target := page
			if strings.Contains(link[1], "://") {
				continue
			}
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", filepath.Base(page), link[1], err)
				continue
			}
			if link[2] != "" && !slices.Contains(anchors(readPage(t, target)), link[2]) {
				t.Errorf("%s links to %s%s: no such heading", filepath.Base(page), link[1], link[2])
			}
		}
	}
}

// anchors are the headings of a page as links name them.
func anchors(page string) []string {
	var found []string
	for _, h := range headings.FindAllStringSubmatch(fenced.ReplaceAllString("\n"+page, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(h[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		found = append(found, "#"+b.String())
	}
	return found
}

// The table of docs/architecture.md names packages and functions that are there.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| [^|]* \\| `([a-z/-]+)` \\| (.*) \\|$")
	quoted := regexp.MustCompile("`([^`]+)`")
	rows := row.FindAllStringSubmatch(readPage(t, filepath.Join("..", "..", "..", "docs", "architecture.md")), -1)
	if len(rows) < 10 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, r := range rows {
		dir := r[1]
		for _, name := range quoted.FindAllStringSubmatch(r[2], -1) {
			if name[1][0] >= 'a' { // a package again, with its functions behind it
				dir = name[1]
			}
			files, _ := filepath.Glob(filepath.Join("..", "..", "..", dir, "*.go"))
			function := regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + name[1] + `[(\[]`)
			declared := name[1] == dir
			for _, file := range files {
				declared = declared || !strings.HasSuffix(file, "_test.go") && function.MatchString(readPage(t, file))
			}
			if len(files) == 0 || !declared {
				t.Errorf("%s has no %s", dir, name[1])
			}
		}
	}
}

// missingTool skips a test that needs a program; under CI=true it fails, so that
// nothing is left out there in silence.
func missingTool(t *testing.T, tool string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("there is no %s", tool)
	}
	t.Skipf("there is no %s", tool)
}
