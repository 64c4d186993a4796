package ledger

import (
	"context"
	"path/filepath"
)

// A Span is a stretch of time between two snapshots.
type Span struct {
	Name     string    // [SpanTurn], [SpanOutside] or [SpanSnapshot]
	Turn     int64     // the turn, or the one before
	Agent    string    // who held it
	From, To *Snapshot // To is nil if it lasts until now
}

// Spans returns the turns that are recorded after one, and the stretches between them and until now, oldest first.
// The turn in progress is current, 0 for none.
func Spans(all []*Snapshot, after, current int64) (spans []Span) {
	_, before := TurnOf(all, after)
	for _, s := range all {
		if s.Why != WhyStart || s.Turn <= after || len(spans) > 0 && spans[len(spans)-1].Turn >= s.Turn {
			continue
		}
		start, end := TurnOf(all, s.Turn)
		if before != nil {
			spans = append(spans, Span{Name: SpanOutside, Turn: before.Turn, From: before, To: start})
		}
		if before = end; end != nil || s.Turn == current {
			spans = append(spans, Span{Name: SpanTurn, Turn: s.Turn, Agent: s.Agent, From: start, To: end})
		}
		if s.Turn == current {
			spans[len(spans)-1].To, before = nil, nil
		}
	}
	if before != nil {
		spans = append(spans, Span{Name: SpanOutside, Turn: before.Turn, From: before})
	}
	return spans
}

// LastEnded returns the last turn of which the end is recorded and counts, 0 if there is none.
func LastEnded(all []*Snapshot, counts func(end *Snapshot) bool) (last int64) {
	for _, s := range all {
		if (s.Why == WhyEnd || s.Why == WhyTakeover) && counts(s) {
			last = max(last, s.Turn)
		}
	}
	return last
}

// ViewOf returns a view in which a stretch of time can be compared: without a scan, unless it lasts until now.
func (l *Ledger) ViewOf(ctx context.Context, s Span) (*View, error) {
	if s.To != nil {
		return l.Recorded(), nil
	}
	return l.Look(ctx)
}

// End returns the end of a stretch of time, as the view has it.
func (v *View) End(s Span) *Snapshot {
	if s.To == nil {
		return v.Now
	}
	return s.To
}

// ChangesOf is [View.Changes] of a stretch of time, which the result names, with an error too.
func (v *View) ChangesOf(s Span, filters []string, mostPaths int) (*Changes, error) {
	c, err := v.Changes(s.From, v.End(s), filters, mostPaths)
	if err != nil {
		c = &Changes{Unknown: UnknownUnreadable}
	}
	c.Span, c.Turn, c.Agent, c.TreeID = s.Name, s.Turn, s.Agent, filepath.Base(v.ledger.dir)
	return c, err
}
