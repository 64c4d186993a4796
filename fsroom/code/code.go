// Package code is the one error type of the project and the table of its codes.
//
// A refused command and a failed one both return an [Error]: a stable code for
// programs, a sentence for people, the next move as a hint, and the facts as details.
// The rules and the storage return it, and the commands print it. No program needs to
// parse a message.
package code

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Code names one kind of refusal or failure. Codes are part of the contract
// with scripts and agents and never change their meaning.
type Code string

// The codes of tt. The codes of the agent bus are in its own packages.
const (
	Usage                Code = "usage"
	Internal             Code = "internal"
	NotJoined            Code = "not_joined"
	RoomNotFound         Code = "room_not_found"
	UnknownMember        Code = "unknown_member"
	InvalidHandoff       Code = "invalid_handoff"
	StaleLease           Code = "stale_lease"
	TurnMismatch         Code = "turn_mismatch"
	NoActiveLease        Code = "no_active_lease"
	TakeoverNotAvailable Code = "takeover_not_available"
	TakeoverIneligible   Code = "takeover_ineligible"
	ReasonRequired       Code = "reason_required"
	RoomClosed           Code = "room_closed"
	UnknownTarget        Code = "unknown_target"
	TargetActive         Code = "target_active"
	CannotKickSelf       Code = "cannot_kick_self"
	UnknownRecipient     Code = "unknown_recipient"
	AmbiguousRecipient   Code = "ambiguous_recipient"
	InvalidBody          Code = "invalid_body"
	MessageTooLarge      Code = "message_too_large"
	BodyTooLarge         Code = "body_too_large"
	NoteResolved         Code = "note_resolved"
	InvalidTurnID        Code = "invalid_turn_id"
	InvalidCursor        Code = "invalid_cursor"
	InvalidEventType     Code = "invalid_event_type_filter"
	InvalidAgentID       Code = "invalid_agent_id"
	GuardianFailed       Code = "guardian_failed"
	LockTimeout          Code = "lock_timeout"
	LockBusy             Code = "lock_busy"
	LockCycle            Code = "lock_cycle"
	UnsupportedFS        Code = "unsupported_filesystem"
	UnsupportedFormat    Code = "unsupported_format"
	CorruptRoom          Code = "corrupt_room"
	DataDirUnusable      Code = "data_dir_unusable"
	DiskFull             Code = "disk_full"
	InDoubt              Code = "in_doubt"
	AgentElsewhere       Code = "agent_elsewhere"
	EngineMissing        Code = "engine_missing"
	EngineUnreachable    Code = "engine_unreachable"
	EngineDenied         Code = "engine_denied"
	EngineRewound        Code = "engine_rewound"
	EngineRestored       Code = "engine_restored"
	EngineUnsafe         Code = "engine_unsafe"
	NoSharedIdentity     Code = "no_shared_identity"
	AlreadyListening     Code = "already_listening"
	ConsoleNotInstalled  Code = "console_not_installed"
	AmbiguousTarget      Code = "ambiguous_target"
	OwnQuestion          Code = "own_question"
	AlreadyAnswered      Code = "already_answered"
	QuestionClosed       Code = "question_closed"
	NoSnapshot           Code = "no_snapshot"
	UndoConflict         Code = "undo_conflict"
	TreeChanging         Code = "tree_changing"
	ApplyFailed          Code = "apply_failed"
	LedgerOff            Code = "ledger_off"
	UnreadAnswers        Code = "unread_answers"
	JobNotFound          Code = "job_not_found"
	JobLimit             Code = "job_limit"
	JobLost              Code = "job_lost"
	JobWouldDie          Code = "job_would_die"
	NotYours             Code = "not_yours"
)

// An Error is a refusal or a failure, as users see it.
type Error struct {
	Code    Code
	Message string         // one sentence, no capital, no full stop
	Hint    string         // the next move, a sentence or a command; may be empty
	Details map[string]any // the facts behind the message, snake_case keys; may be nil
	Err     error          // what caused it, for errors.Is; may be nil
}

// New returns an Error whose message is formatted like fmt.Sprintf.
func New(c Code, format string, args ...any) *Error {
	e := &Error{Code: c, Message: format}
	if len(args) > 0 { // a text without arguments is taken as it is
		e.Message = fmt.Sprintf(format, args...)
	}
	return e
}

// WithHint sets the next move and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	hint := &e.Hint
	if *hint = format; len(args) > 0 {
		*hint = fmt.Sprintf(format, args...)
	}
	return e
}

// With adds one detail and returns e.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = make(map[string]any)
	}
	e.Details[key] = value
	return e
}

// Because records the cause and returns e.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Message, e.Code) }

func (e *Error) Unwrap() error { return e.Err }

// Of returns the code of the first Error in err's chain: "" for nil, [Internal]
// for an error that has none.
func Of(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

// MessageOf returns the message of an error, without its code.
func MessageOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// Count returns a number of things as a message says it: "1 event", "2 events".
func Count(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "ch"):
		thing += "es"
	default:
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// Mistakes returns how many letters of a must be inserted, deleted, replaced, or swapped with
// their neighbour to get b.
func Mistakes(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
