package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talking-stick/tt/cmd/internal/console/draw"
	"github.com/talking-stick/tt/cmd/internal/console/look"
	"github.com/talking-stick/tt/cmd/internal/locks"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/ledger"
	"github.com/talking-stick/tt/fsroom/turn"
	"github.com/talking-stick/tt/lockfile/queue"
)

// A layout says where the panels of a room are.
type layout struct {
	wide   bool // the lists are beside the journal, else above it
	left   int  // the columns of the lists
	facts  int  // the lines above the panels, with a blank one
	rows   int  // the lines of the panels
	lists  int  // the lines of the lists
	titles bool // with lines of titles
}

// layoutFor returns the layout of a page of w columns and h lines.
func (m *model) layoutFor(w, h int) layout {
	l := layout{wide: w >= 90, left: w, facts: 5, titles: true}
	for _, n := range []int{len(m.detail.Siblings), len(m.detail.Verdicts)} {
		l.facts += min(n, 1)
	}
	if h < 16 {
		l.facts, l.titles = 2, h >= 12
	}
	l.rows = h - l.facts
	if l.wide {
		l.left, l.lists = min(52, w*2/5), l.rows
		return l
	}
	d := m.detail
	wanted := 0
	for _, n := range []int{len(d.Members), len(d.Questions), len(d.Notes)} {
		wanted += n
		if n > 0 && l.titles {
			wanted++
		}
	}
	l.lists = min(wanted, l.rows*2/3)
	return l
}

// panelRows is about how many lines the panel with the keys has, for pages.
func (m *model) panelRows() int {
	h := max(m.h, leastHeight) - edges
	l := m.layoutFor(max(m.w, leastWidth), h)
	if m.panel != panelJournal {
		return max(1, l.lists/3)
	}
	if l.wide {
		return max(1, l.rows-1)
	}
	return max(1, l.rows-l.lists-1)
}

func (m *model) roomBody(w, h int) []string {
	l := m.layoutFor(w, h)
	lines := m.facts(w)[:l.facts-1]
	lines = append(lines, "")
	lists := m.lists(l)
	if !l.wide {
		return append(append(lines, lists...), m.journal(w, l.rows-len(lists), l.titles)...)
	}
	journal := m.journal(w-l.left-2, l.rows, true)
	return append(lines, m.beside(lists, journal, l.left, l.rows, m.Own(draw.Dim, m.Mark(draw.Line))+" ")...)
}

// facts are the lines that say who has the stick, for how long, who is next, which locks are
// taken, and who works in other trees of the repository. A low screen has room for the first one only.
func (m *model) facts(w int) []string {
	r := &m.detail.Room
	none := m.Own(draw.Dim, m.Mark(draw.None))
	stick, lease, next := none, none, none
	v := &r.View
	switch {
	case m.detail.Ended:
		stick = m.Own(draw.Yellow, "the room has ended")
	case v.Owner != "":
		stick = m.Text(draw.Bold, v.Owner)
		if v.Owner == m.me {
			stick += m.Own(draw.Dim, " (you)")
		}
		stick += m.Own(draw.Dim, fmt.Sprintf("  turn %d, ", v.TurnID))
		if w >= 60 {
			stick += m.Own(draw.Dim, "since "+m.clock(r.Since)+", ")
		}
		stick += draw.Span(m.now.Sub(r.Since)) + m.trouble(r)
		if job := v.Activity.JobWords(m.now); job != "" {
			stick += m.Own(draw.Dim, ", ") + m.Text(draw.Plain, job)
		}
	case v.ReservedFor != "":
		stick = m.Own(draw.Yellow, "reserved for ") + m.Text(draw.Bold, v.ReservedFor) +
			m.Own(draw.Dim, "  after turn "+number(v.TurnID)) + m.trouble(r)
	case v.PendingHandoff != 0:
		stick = m.Own(draw.Green, "free") + m.Own(draw.Dim, ", with a handoff, after turn "+number(v.TurnID))
	default:
		stick = m.Own(draw.Green, "free")
	}
	if n := m.detail.Lost; n > 0 {
		stick += m.Own(draw.Alarm, "  "+code.Count(n, "file")+" went, not committed: tt restore --lost")
	}
	until, term := v.LeaseExpiresAt, "Lease"
	if until == nil && v.ClaimExpiresAt != nil {
		until, term = v.ClaimExpiresAt, "Claim"
	}
	if until != nil && !m.detail.Ended {
		left := until.Sub(m.now)
		lease = m.Bar(left, r.Full, min(40, w/3)) + " " + draw.Span(left) + m.Own(draw.Dim, " left")
		if left <= 0 {
			lease = m.Bar(0, r.Full, min(40, w/3)) + m.Own(draw.Red, " over")
		}
		if at := r.Renewal.At; !at.IsZero() && w >= 80 {
			lease += m.Own(draw.Dim, ", renewed "+draw.Span(m.now.Sub(at))+" ago")
		}
		switch {
		case r.Renewal.PID == 0:
		case r.Renewal.Status == turn.Gone:
			lease += m.Own(draw.Red, fmt.Sprintf(", guardian %d has ended", r.Renewal.PID))
		case w >= 100:
			lease += m.Own(draw.Dim, fmt.Sprintf(", guardian %d", r.Renewal.PID))
		}
	}
	if waiting := r.Waiting(); len(waiting) > 0 {
		var names []string
		for _, x := range waiting {
			names = append(names, x.AgentID)
		}
		next = m.Text(draw.Plain, strings.Join(names, ", then "))
	} else if v.ReservedFor != "" {
		next = m.Text(draw.Plain, v.ReservedFor)
	}
	var lines, held, trees, tested []string
	for _, lock := range m.detail.Locks {
		held = append(held, m.Text(draw.Bold, lock.Name)+m.Text(draw.Plain, m.lockWords(lock)))
	}
	for _, s := range m.detail.Siblings {
		trees = append(trees, m.Text(draw.Bold, s.Name(v.CanonicalPath))+" "+m.Text(draw.Plain, cmp.Or(s.Owner, s.State)))
	}
	verdicts := func(style draw.Style, current bool) {
		list := slices.DeleteFunc(slices.Clone(m.detail.Verdicts), func(v ledger.LastVerdict) bool { return v.Current != current })
		for _, words := range ledger.LastWords(list, func(at time.Time) string { return draw.Span(m.now.Sub(at)) + " ago" }) {
			tested = append(tested, m.Text(style, words))
		}
	}
	verdicts(draw.Green, true)
	verdicts(draw.Dim, false)
	add := func(name string, parts ...string) {
		text := cmp.Or(strings.Join(parts, m.Own(draw.Dim, "   ")), none)
		lines = append(lines, " "+m.Own(draw.Dim, m.Fit(name, 5))+" "+text)
	}
	add("Stick", stick)
	add(term, lease)
	add("Next", next)
	add("Locks", held...)
	if len(trees) > 0 {
		add("Trees", trees...)
	}
	if len(tested) > 0 {
		add("Tests", tested...)
	}
	return lines
}

// trouble says what is wrong with the holder or the recipient, and what to do.
func (m *model) trouble(r *look.Room) string {
	why := turn.Stuck(r.View.State)
	if trouble := r.Trouble(); why == "" && trouble != nil {
		why = trouble.Fact()
	}
	if why == "" {
		return ""
	}
	text := "   " + m.Own(draw.Alarm, m.Mark(m.condition(r).mark)+" "+why)
	if m.readOnly {
		return text
	}
	return text + m.Own(draw.Bold, "  t") + m.Own(draw.Dim, " takes it")
}

// lockWords says who has a lock and how many wait.
func (m *model) lockWords(lock *locks.View) (words string) {
	for _, h := range lock.Holders {
		words += " " + h.AgentID
		if h.HeldAt != nil {
			words += " " + draw.Span(m.now.Sub(h.HeldAt.Time))
		}
		if h.Process == string(queue.Stopped) {
			words += " stopped"
		}
		if len(h.Command) > 0 {
			words += " (" + m.Cut(strings.Join(h.Command, " "), 24) + ")"
		}
	}
	if n := len(lock.Waiting); n > 0 {
		words += fmt.Sprintf(", %d waiting", n)
	}
	if lock.Error != "" {
		words += " cannot be read"
	}
	return words
}

// title returns the title of a panel.
func (m *model) title(p panel, name string, count string) string {
	style := draw.Dim
	mark := " "
	if m.panel == p {
		style, mark = draw.Bold, m.Mark(draw.Cursor)
	}
	return m.Own(style, mark+name) + m.Own(draw.Dim, "  "+count)
}

// cursorOf returns the mark before a line of a panel.
func (m *model) cursorOf(p panel, selected bool) string {
	switch {
	case selected && m.panel == p:
		return " " + m.Own(draw.Title, m.Mark(draw.Cursor)) + " "
	case selected && p != panelJournal:
		return " " + m.Own(draw.Dim, m.Mark(draw.Crumb)) + " "
	}
	return "   "
}

// journal shows the events, the newest at the bottom. A line says where a day begins.
func (m *model) journal(w, h int, titled bool) []string {
	if h <= 0 {
		return nil
	}
	list := m.entries()
	pick, last := m.journalAt(list)
	var head []string
	if titled {
		count := code.Count(len(list), "event")
		if below := len(list) - 1 - last; below > 0 {
			count = fmt.Sprintf("%d new %s", below, m.Mark(draw.Below))
		}
		head, h = []string{m.title(panelJournal, "JOURNAL", count)}, h-1
	}
	var lines []string // from the bottom up
	for i := last; i >= 0 && len(lines) < h; i-- {
		lines = append(lines, m.entryLine(list[i], i == pick))
		at := list[i].CreatedAt.In(m.zone)
		before := m.now.In(m.zone)
		if i > 0 {
			before = list[i-1].CreatedAt.In(m.zone)
		}
		if at.Format(time.DateOnly) != before.Format(time.DateOnly) {
			lines = append(lines, "   "+m.Own(draw.Dim, at.Format("Monday 2 January")))
		}
	}
	lines = lines[:min(len(lines), h)]
	for i := len(lines) - 1; i >= 0; i-- {
		head = append(head, m.Fit(lines[i], w))
	}
	return head
}

func (m *model) entryLine(e *look.Entry, selected bool) string {
	c, told := m.told(e), draw.Plain
	if c.style == draw.Dim {
		told = draw.Dim
	}
	line := " "
	if selected {
		line = m.Own(draw.Title, m.Mark(draw.Cursor))
	}
	return line + m.Own(draw.Dim, e.CreatedAt.In(m.zone).Format("15:04:05")) + " " + m.marked(c) + " " + m.Text(told, c.word)
}
