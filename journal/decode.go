package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// What a decoder remembers is bounded: so many strings of at most so many bytes.
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
	var d decoder
	var e Event
	if err := d.decode(line, &e); err != nil {
		return Event{}, err
	}
	return e, nil
}

// A decoder reads lines. One that has names returns the same string for the same
// agent, room or type again, instead of a new copy for each line.
type decoder struct{ names map[string]string }

// decode overwrites e, also when it fails.
func (d *decoder) decode(line []byte, e *Event) error {
	*e = Event{}
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	p := parser{data: line}
	more, err := p.enter('{', '}')
	for more && err == nil {
		if err = d.member(&p, e); err == nil {
			more, err = p.another('}')
		}
	}
	if err == nil {
		err = p.end()
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

func (d *decoder) member(p *parser, e *Event) error {
	key, escaped, err := p.key()
	if err != nil {
		return err
	}
	if escaped {
		key = []byte(unescape(key))
	}
	if err := d.field(p, string(key), e); err != nil {
		return fmt.Errorf("%.40s: %w", key, err)
	}
	return nil
}

func (d *decoder) field(p *parser, key string, e *Event) (err error) {
	switch key {
	case "event_seq":
		e.Seq, err = p.integer()
	case "event_id":
		e.ID, err = p.text(nil)
	case "room_id":
		e.RoomID, err = p.text(d.names)
	case "turn_id":
		e.Turn, err = p.integer()
	case "event_type":
		e.Type, err = p.text(d.names)
	case "from_agent_id":
		e.From, err = p.text(d.names)
	case "to_agent_id":
		e.To, err = p.text(d.names)
	case "handoff":
		e.Handoff, err = p.raw()
	case "reason":
		e.Reason, err = p.text(nil)
	case "payload":
		e.Payload, err = p.raw()
	case "created_at":
		e.CreatedAt, err = p.time()
	case "more":
		e.More, err = p.boolean()
	default:
		err = p.value()
	}
	return err
}

// null reads a null, if one is next.
func (p *parser) null() bool { return p.peek() == 'n' && p.literal("null") == nil }

func (p *parser) integer() (int64, error) {
	if p.null() {
		return 0, nil
	}
	start := p.pos
	if c := p.peek(); c != '-' && !isDigit(c) {
		return 0, p.fail("an integer")
	}
	if err := p.number(); err != nil {
		return 0, err
	}
	text := p.data[start:p.pos]
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40s is no 64-bit integer", text)
	}
	return n, nil
}

func (p *parser) boolean() (bool, error) {
	if p.null() {
		return false, nil
	}
	switch p.peek() {
	case 't':
		return true, p.literal("true")
	case 'f':
		return false, p.literal("false")
	}
	return false, p.fail("true or false")
}

func (p *parser) raw() (json.RawMessage, error) {
	if p.null() {
		return nil, nil
	}
	start := p.pos
	if err := p.value(); err != nil {
		return nil, err
	}
	return p.data[start:p.pos:p.pos], nil
}

func (p *parser) time() (Time, error) {
	if p.null() {
		return Time{}, nil
	}
	raw, err := p.unquoted()
	if err != nil {
		return Time{}, err
	}
	return parseTime(raw)
}

// text reads a string; names, if there are any, remembers it for the next line.
func (p *parser) text(names map[string]string) (string, error) {
	if p.null() {
		return "", nil
	}
	raw, err := p.unquoted()
	if err != nil {
		return "", err
	}
	if names == nil || len(raw) > maxNameLength {
		return string(raw), nil
	}
	if s, ok := names[string(raw)]; ok { // does not allocate
		return s, nil
	}
	if len(names) >= maxNames {
		clear(names)
	}
	s := string(raw)
	names[s] = s
	return s, nil
}

// unquoted reads a string and returns its text, aliasing data where it can.
func (p *parser) unquoted() ([]byte, error) {
	if p.peek() != '"' {
		return nil, p.fail("a string")
	}
	raw, escaped, err := p.str()
	if escaped && err == nil {
		raw = []byte(unescape(raw))
	}
	return raw, err
}

// unescape resolves the escapes of a string that str has read. Surrogates
// without their other half become U+FFFD.
func unescape(raw []byte) (s string) {
	quoted := append(append([]byte{'"'}, raw...), '"')
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic(err) // str accepts exactly what encoding/json accepts
	}
	return s
}
