package event

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/talking-stick/tt/journal/wire"
)

// What a Decoder remembers is bounded: so many strings of at most so many bytes.
const (
	maxNames      = 1024
	maxNameLength = 128
)

// Decode reads one line. Keys come in any order and with any spacing, so a
// journal rewritten by other tools still reads; unknown keys are skipped, null
// means absent, and of a key given twice the last counts. Refused are a value of
// the wrong type, an event_seq below 1, a missing event_type, anything after
// the object, and bytes that are not UTF-8.
//
// Handoff and Payload alias line; see [Event.Clone].
func Decode(line []byte) (Event, error) {
	var d Decoder
	var e Event
	if err := d.Decode(line, &e); err != nil {
		return Event{}, err
	}
	return e, nil
}

// A Decoder reads lines. One made by [NewDecoder] returns the same string for the
// same agent, room or type again, instead of a new copy for each line.
type Decoder struct{ names map[string]string }

// NewDecoder returns a Decoder that remembers names.
func NewDecoder() Decoder { return Decoder{names: make(map[string]string)} }

// Decode overwrites e, also when it fails.
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

func readTime(p *wire.Parser) (Time, error) {
	if p.Null() {
		return Time{}, nil
	}
	raw, err := p.Unquoted()
	if err != nil {
		return Time{}, err
	}
	return parseTime(raw)
}

// name reads a string that is likely to come again on the next line.
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
