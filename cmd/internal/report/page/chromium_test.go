package page

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/internal/report/model"
	"github.com/talking-stick/tt/cmd/internal/report/reporttest"
	"github.com/talking-stick/tt/journal/event"
)

// These tests show pages to a real browser, Debian's chromium, which takes seconds each
// time. So they run with TT_TEST_UI=1 only, which "make test-ui" sets, after it has
// installed the browser where it can. Without the browser they are skipped, but with
// CI=true its absence is an error.

var update = flag.Bool("update", false, "write the pictures in testdata anew")

func browser(t *testing.T) string {
	t.Helper()
	if os.Getenv("TT_TEST_UI") == "" {
		t.Skip("it takes a browser: make test-ui")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("there is no chromium")
	}
	t.Skip("there is no chromium: make test-ui installs it")
	return ""
}

// visit shows a page to the browser and returns what that writes to standard output.
func visit(t *testing.T, html, fragment string, args ...string) string {
	t.Helper()
	program := browser(t)
	dir, err := os.MkdirTemp("", "tt-page-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) // the browser may still be writing, which is no failure
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(html), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args = append([]string{
		"--headless=new", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking", "--no-first-run", "--disable-extensions",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--virtual-time-budget=3000",
	}, args...)
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.CommandContext(ctx, program, append(args, "file://"+file+fragment)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return string(out)
}

// drawn returns how many turns have been drawn.
func drawn(dom string) int { return strings.Count(dom, `class="turn`) }

// TestPageDrawsEveryTurn counts the turns in the document after the script has run.
func TestPageDrawsEveryTurn(t *testing.T) {
	t.Parallel()
	for _, turns := range []int{55, 2200} {
		html := rendered(t, sample(turns))
		if n := drawn(html); n != 0 {
			t.Errorf("%d turns in the page before it is drawn", n)
		}
		if n := drawn(visit(t, html, "", "--dump-dom")); n != turns {
			t.Errorf("%d turns are drawn, want %d", n, turns)
		}
	}
	var empty model.Builder
	if dom := visit(t, rendered(t, empty.Model(model.Options{})), "", "--dump-dom"); !strings.Contains(dom, "Nothing has happened yet") {
		t.Error("the page of an empty room does not say so")
	}
}

// TestPageShowsTurnOfLink opens the page with a link to a turn.
func TestPageShowsTurnOfLink(t *testing.T) {
	t.Parallel()
	dom := visit(t, rendered(t, sample(55)), "#turn=27", "--dump-dom")
	if !regexp.MustCompile(`<g class="turn c\d on" role="button" tabindex="0" data-n="27"`).MatchString(dom) {
		t.Error("turn 27 is not selected")
	}
	if !strings.Contains(dom, "<span>Turn 27, ") || !strings.Contains(dom, `id="findings" hidden=""`) {
		t.Error("turn 27 is not shown")
	}
	if dom := visit(t, rendered(t, sample(55)), "#turn=99999", "--dump-dom"); strings.Contains(dom, " on\" role") {
		t.Error("a turn that is not there is selected")
	}
}

// TestHostilePage checks that texts stay texts: no element comes of them, no script runs,
// and nobody is asked for anything.
func TestHostilePage(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.String())
	}))
	defer server.Close()
	m := hostile()
	for i, text := range []string{
		`<img src="%[1]s/img">`, `<script src="%[1]s/script"></script>`, `<link rel=stylesheet href="%[1]s/style">`, `<link rel=prefetch href="%[1]s/prefetch">`, `<iframe src="%[1]s/frame"></iframe>`,
		`<meta http-equiv=refresh content="0;url=%[1]s/refresh">`, `<style>@import "%[1]s/import";</style>`, `"><svg><image href="%[1]s/image"/></svg>`, `%[1]s/plain`,
	} {
		m.Turns[i].Handoff, m.Messages[i].Body, m.Notes[i].Body = nil, fmt.Sprintf(text, server.URL), fmt.Sprintf(text, server.URL)
		m.Agents = append(m.Agents, model.Agent{ID: fmt.Sprintf(text, server.URL), Kind: "human"})
	}
	html := rendered(t, m)
	dom := visit(t, html, "#turn=3", "--dump-dom")
	if n := drawn(dom); n != len(m.Turns) {
		t.Errorf("%d turns are drawn, want %d", n, len(m.Turns))
	}
	// In the document as the browser writes it, a < in a text is &lt;, so that each < begins an element.
	dom = regexp.MustCompile(`(?s)(<script[^>]*>).*?</script>`).ReplaceAllString(dom, "$1")
	for _, element := range []string{"<img", "<iframe", "<link", "<b>this", "<image", "<textarea"} {
		if strings.Contains(dom, element) {
			t.Errorf("a text has become %s", element)
		}
	}
	for element, want := range map[string]int{"<script": 2, "<style": 1, "<meta": 6, "<title>": 1 + len(m.Agents)} {
		if n := strings.Count(dom, element); n != want {
			t.Errorf("%d %s, want %d", n, element, want)
		}
	}
	// What is in the page all the same is not run and not loaded.
	page := strings.Replace(html, "</main>", `</main><script>document.title="hurt"</script><b onclick="1" id="x"></b><img src="`+server.URL+`/injected"><p style="color:red" id="styled">`, 1)
	if dom := visit(t, page, "", "--dump-dom"); strings.Contains(dom, "<title>hurt") {
		t.Error("a script that is not ours was run")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) > 0 {
		t.Errorf("the page has asked for %v", asked)
	}
}

// use is what a reader does with the keyboard and the buttons. Each line that is not as
// it should be is added to the title.
const use = `
// A frame takes real time, which virtual time does not wait for.
window.requestAnimationFrame = f => setTimeout(f, 16);
addEventListener("load", () => using().catch(e => { document.title = String(e); }));
async function using() {
  const $ = id => document.getElementById(id), wrong = [];
  const press = (e, key) => e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const check = (what, got, want) => { if (String(got) !== String(want)) wrong.push(what + " is " + got + ", not " + want); };
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)));
  const turn = () => document.activeElement.dataset.n;
  check("what Tab reaches", document.querySelectorAll("#lanes [tabindex='0']").length, 1);
  document.querySelector("#lanes [tabindex='0']").focus();
  check("the first turn", turn(), 1);
  press(document.activeElement, "ArrowRight");
  check("the next turn", turn(), 2);
  press(document.activeElement, "End");
  check("the last turn", turn(), 55);
  press(document.activeElement, "ArrowRight");
  check("behind the last turn", turn(), 55);
  press(document.activeElement, "Home");
  const lane = document.activeElement.getAttribute("class");
  press(document.activeElement, "ArrowDown");
  check("another lane", document.activeElement.getAttribute("class") === lane, false);
  press(document.activeElement, "Home");
  press(document.activeElement, "Enter");
  check("details", $("detail").hidden, false);
  check("the link", location.hash, "#turn=1");
  check("what is said", $("live").textContent.startsWith("Turn 1, claude"), true);
  press(document.activeElement, "Escape");
  check("details after Escape", $("detail").hidden, true);
  check("what Tab reaches now", document.querySelectorAll("#lanes [tabindex='0']").length, 1);
  check("the part shown", $("over").getAttribute("aria-valuetext"), "all of it");
  press(document.body, "+");
  await frame();
  check("the part shown by +", $("over").getAttribute("aria-valuetext") === "all of it", false);
  const before = $("over").getAttribute("aria-valuetext");
  press($("over"), "ArrowRight");
  await frame();
  check("the part further right", $("over").getAttribute("aria-valuetext") === before, false);
  press(document.body, "0");
  await frame();
  check("the part shown by 0", $("over").getAttribute("aria-valuetext"), "all of it");
  const rows = () => [...$("turns-table").tBodies[0].rows], held = () => rows().map(r => +r.cells[3].dataset.v);
  const head = $("turns-table").tHead.rows[0].cells[3];
  head.querySelector("button").click();
  check("the order", head.getAttribute("aria-sort"), "descending");
  check("sorted", held().every((v, i, a) => !i || a[i - 1] >= v), true);
  head.querySelector("button").click();
  check("sorted the other way", held().every((v, i, a) => !i || a[i - 1] <= v), true);
  const find = document.querySelector("#turns input");
  find.value = "NEGATIVE amounts";
  find.dispatchEvent(new Event("input"));
  const found = rows().filter(r => !r.hidden);
  check("found", found.length > 3 && found.length < 20 && found.every(r => r.textContent.includes("negative amounts")), true);
  check("how many", document.querySelector("#turns [role=status]").textContent, found.length + " of 55");
  find.value = "";
  find.dispatchEvent(new Event("input"));
  check("all again", rows().filter(r => !r.hidden).length, 55);
  document.querySelector("#turns-table a[href='#turn=7']").click();
  check("a row", $("detail").querySelector("h3").textContent.startsWith("Turn 7, "), true);
  $("theme").click();
  check("the theme", document.documentElement.dataset.theme, "dark");
  $("skip-idle").click();
  await frame();
  check("turns with idle time", [...document.querySelectorAll("#lanes [data-n]")].filter(g => g.style.display !== "none").length, 55);
  $("show-said").click();
  check("what was said", document.querySelectorAll("#lanes .said").length, 0);
  const unnamed = [...document.querySelectorAll("button, input, [role=region], [role=slider], [role=group]")]
    .filter(e => !(e.textContent.trim() || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.closest("label")));
  check("controls without a name", unnamed.length, 0);
  document.title = wrong.join("; ") || "right";
}`

// TestPageIsUsed uses the page with the keyboard and by its buttons.
func TestPageIsUsed(t *testing.T) {
	t.Parallel()
	b, err := render(sample(55), "v1", style, use+script)
	if err != nil {
		t.Fatal(err)
	}
	dom := visit(t, string(b), "", "--dump-dom", "--blink-settings=preferredColorScheme=1")
	title := regexp.MustCompile("<title>(.*?)</title>").FindStringSubmatch(dom)
	if title == nil || title[1] != "right" {
		t.Errorf("%q", title)
	}
}

// TestPageWithClocksSetBack draws events whose times go back and forth by years.
func TestPageWithClocksSetBack(t *testing.T) {
	t.Parallel()
	var b model.Builder
	times := []time.Duration{0, time.Hour, -20 * 365 * 24 * time.Hour, 2 * time.Hour, 2 * time.Hour, time.Hour}
	n := 0
	for e := range reporttest.Events(12) {
		e.CreatedAt = event.NewTime(e.CreatedAt.Add(times[n%len(times)]))
		b.Add(e)
		n++
	}
	m := b.Model(model.Options{})
	dom := visit(t, rendered(t, m), "", "--dump-dom")
	if n := drawn(dom); n != len(m.Turns) || strings.Contains(dom, `="NaN`) || regexp.MustCompile(`width="-`).MatchString(dom) {
		t.Errorf("%d of %d turns are drawn, or with sizes that are none", n, len(m.Turns))
	}
}

// TestPictures compares what the page looks like with the pictures in testdata. They are
// small and compared with some tolerance, because fonts differ from machine to machine.
// -update also makes the picture in the documentation.
func TestPictures(t *testing.T) {
	t.Parallel()
	m := sample(55)
	html := rendered(t, m)
	onPaper, err := render(m, "v1.2.3", strings.NewReplacer("@media print", "@media all", "@media screen", "@media speech").Replace(style), script)
	if err != nil {
		t.Fatal(err)
	}
	printed := string(onPaper)
	if *update {
		file, err := filepath.Abs("../../../../docs/report.png")
		if err != nil {
			t.Fatal(err)
		}
		visit(t, html, "", "--window-size=1440,960", "--blink-settings=preferredColorScheme=1", "--screenshot="+file)
	}
	for _, shot := range []struct{ name, html, fragment, size, scheme string }{
		{"light", html, "", "1440,1150", "1"},
		{"dark", html, "#turn=34", "1440,1150", "0"},
		{"narrow", html, "", "480,1600", "1"},
		{"print", printed, "", "794,1123", "1"},
	} {
		t.Run(shot.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "shot.png")
			visit(t, shot.html, shot.fragment, "--window-size="+shot.size, "--blink-settings=preferredColorScheme="+shot.scheme, "--screenshot="+file)
			got := shrunk(t, file)
			golden := filepath.Join("testdata", shot.name+".png")
			if *update {
				writePicture(t, golden, got)
				return
			}
			want := readPicture(t, golden)
			if d := difference(got, want); d > 0.05 {
				kept := filepath.Join(os.TempDir(), "tt-page-"+shot.name+".png")
				writePicture(t, kept, got)
				t.Errorf("it differs by %.1f %%; see %s", 100*d, kept)
			}
			other := readPicture(t, filepath.Join("testdata", map[string]string{"light": "dark", "dark": "light", "narrow": "print", "print": "narrow"}[shot.name]+".png"))
			if other.Bounds() == got.Bounds() && difference(got, other) < 0.2 {
				t.Error("another picture is as good: the comparison sees nothing")
			}
		})
	}
}

// shrink is how many pixels become one.
const shrink = 8

// shrunk reads a picture and returns it smaller.
func shrunk(t *testing.T, file string) *image.RGBA {
	t.Helper()
	big := readPicture(t, file)
	w, h := big.Bounds().Dx()/shrink, big.Bounds().Dy()/shrink
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			var sum [3]uint32
			for i := range shrink * shrink {
				r, g, b, _ := big.At(x*shrink+i%shrink, y*shrink+i/shrink).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r>>8, sum[1]+g>>8, sum[2]+b>>8
			}
			const n = shrink * shrink
			small.Set(x, y, color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255})
		}
	}
	return small
}

// difference returns by how much two pictures differ, from 0 to 1, or 1 if they differ in
// size.
func difference(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	var sum, n float64
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			for _, d := range [][2]uint32{{r1, r2}, {g1, g2}, {b1, b2}} {
				sum += float64(max(d[0], d[1])-min(d[0], d[1])) / 65535
				n++
			}
		}
	}
	return sum / n
}

func readPicture(t *testing.T, file string) image.Image {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func writePicture(t *testing.T, file string, p image.Image) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
