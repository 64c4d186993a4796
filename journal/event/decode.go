package event

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/talking-stick/tt/journal/wire"
)

// A Decoder remembers at most maxNames strings of at most maxNameLength bytes.
const (
	maxNames      = 1024
	maxNameLength = 128
)

// Decode reads one line. Keys may come in any order and with any spacing, so it reads
// a journal that other tools have rewritten. Unknown keys are skipped, null means
// absent, and of a key given twice the last one counts. Decode refuses a value of the
// wrong type, an event_seq below 1, a missing event_type, anything after the object,
// and bytes that are not UTF-8.
//
// Handoff and Payload alias line, see [Event.Clone].
func Decode(line []byte) (Event, error) {
	var d Decoder
	var e Event
	if err := d.Decode(line, &e); err != nil {
		return Event{}, err
	}
	return e, nil
}

// A Decoder reads lines. One made by [NewDecoder] shares the strings of agents, rooms
// and types between the events that it reads, instead of copying them for each line.
type Decoder struct{ names map[string]string }

// NewDecoder returns a Decoder that remembers strings. The zero Decoder does not.
func NewDecoder() Decoder { return Decoder{names: make(map[string]string)} }

// Decode reads one line like the function [Decode]. It overwrites e, also if it fails.
func (d *Decoder) Decode(line []byte, e *Event) error {
	*e = Event{}
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	p := wire.NewParser(line)
	err := p.Object(func(name []byte) error {
		if err := d.field(p, string(name), e); err != nil {
			return fmt.Errorf("%.40s: %w", name, err)
		}
		return nil
	})
	if err == nil {
		err = p.End()
	}
	if err != nil {
		return err
	}
	return e.check()
}

func (e *Event) check() error {
	if e.Seq < 1 {
		return errors.New("event_seq missing or below 1")
	}
	if e.Type == "" {
		return errors.New("event_type missing")
	}
	return nil
}

func (d *Decoder) field(p *wire.Parser, key string, e *Event) (err error) {
	switch key {
	case "event_seq":
		e.Seq, err = p.Int()
	case "event_id":
		e.ID, err = p.Text()
	case "room_id":
		e.RoomID, err = d.name(p)
	case "turn_id":
		e.Turn, err = p.Int()
	case "event_type":
		e.Type, err = d.name(p)
	case "from_agent_id":
		e.From, err = d.name(p)
	case "to_agent_id":
		e.To, err = d.name(p)
	case "handoff":
		e.Handoff, err = p.Raw()
	case "reason":
		e.Reason, err = p.Text()
	case "payload":
		e.Payload, err = p.Raw()
	case "created_at":
		e.CreatedAt, err = readTime(p)
	case "more":
		e.More, err = p.Bool()
	default:
		err = p.Skip()
	}
	return err
}

func readTime(p *wire.Parser) (t Time, err error) {
	if p.Null() {
		return t, nil
	}
	raw, err := p.Unquoted()
	if err == nil {
		err = t.UnmarshalText(raw)
	}
	return t, err
}

// name reads a string that the next lines are likely to have as well.
func (d *Decoder) name(p *wire.Parser) (string, error) {
	if p.Null() {
		return "", nil
	}
	raw, err := p.Unquoted()
	if err != nil {
		return "", err
	}
	if d.names == nil || len(raw) > maxNameLength {
		return string(raw), nil
	}
	if s, ok := d.names[string(raw)]; ok { // does not allocate
		return s, nil
	}
	if len(d.names) >= maxNames {
		clear(d.names)
	}
	s := string(raw)
	d.names[s] = s
	return s, nil
}
