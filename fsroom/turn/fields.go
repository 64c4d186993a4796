package turn

import (
	"time"

	"github.com/talking-stick/tt/journal/wire"
)

// This file lists the JSON fields of the state, of payloads and of results, once for
// reading and writing. The names are part of the file format and of the output.

func (s *State) Fields(c *wire.Codec) {
	c.Text("room_id", &s.RoomID)
	c.Text("canonical_path", &s.CanonicalPath)
	c.Text("workspace_root", &s.WorkspaceRoot)
	c.Bool("open", &s.Open)
	c.Int("last_event_seq", &s.Seq)
	c.Int("turn_id", &s.Turn)
	c.OptText("owner", &s.Owner)
	c.OptText("reserved_for", &s.ReservedFor)
	c.OptObject("held", &s.Grant, s.Grant == Grant{})
	c.OptObject("pending", &s.Pending, s.Pending == PendingHandoff{})
	c.OptInt("short_turns", &s.ShortTurns)
	c.Object("policy", &s.Policy)
	wire.OptList(c, "members", &s.Members)
	wire.OptList(c, "former_holders", &s.Former)
	c.Num("next_ordinal", &s.NextOrdinal)
	c.OptInt("broadcasts", &s.Broadcasts)
	wire.OptList(c, "notes", &s.Notes)
	c.OptInt("last_note_event_seq", &s.LastNote)
	wire.OptList(c, "changes", &s.Changes)
	wire.OptList(c, "told_jobs", &s.Jobs)
	c.Time("updated_at", &s.UpdatedAt)
}

func (g *Grant) Fields(c *wire.Codec) {
	c.Text("lease_id", &g.Lease)
	c.Object("at", &g.At)
	optMillis(c, "lease_ttl_ms", &g.TTL)
	c.OptText("host", &g.Host)
	c.OptObject("given", &g.Handoff, g.Handoff == PendingHandoff{})
	c.OptBool("woken", &g.Woken)
	c.OptBool("auto", &g.Auto)
}

// Fields are those of a lease in the owner's record and in notes. Older programs wrote only the
// turn and the guardian into a note, and no lease_ttl_ms into a record.
func (l *Lease) Fields(c *wire.Codec) {
	c.OptText("agent_id", &l.Agent)
	c.Int("turn_id", &l.Turn)
	c.OptText("lease_id", &l.Lease)
	optMillis(c, "lease_ttl_ms", &l.TTL)
	c.OptObject("guardian", &l.Guardian, l.Guardian == ProcessID{})
	c.OptObject("renewed", &l.Renewed, l.Renewed.IsZero())
	c.OptNum("granted_to_pid", &l.GrantedTo)
	c.OptObject("holder", &l.Holder, l.Holder == ProcessID{})
	c.OptBool("by_hand", &l.ByHand)
	c.OptText("guardian_ended", &l.Ended.Why)
	c.OptTime("guardian_ended_at", &l.Ended.At, l.Ended.At.IsZero())
	c.OptObject("proof", &l.Proof, l.Proof == Proof{})
}

// Fields are those of a process as package identity writes them.
func (p *ProcessID) Fields(c *wire.Codec) {
	start := int64(p.Start)
	c.OptText("host_id", &p.Host)
	c.OptText("boot_id", &p.Boot)
	c.Num("pid", &p.PID)
	c.Int("start", &start)
	c.OptText("pid_namespace", &p.Namespace)
	p.Start = uint64(start)
}

func (p *Proof) Fields(c *wire.Codec) {
	uptime := p.Uptime.Milliseconds()
	c.Text("boot_id", &p.Boot)
	c.Int("uptime_ms", &uptime)
	c.Time("at", &p.At)
	p.Uptime = ms(uptime)
}

// optMillis is a duration in milliseconds, left out if it is 0.
func optMillis(c *wire.Codec, name string, d *time.Duration) {
	n := d.Milliseconds()
	c.OptInt(name, &n)
	*d = ms(n)
}

func (p *PendingHandoff) Fields(c *wire.Codec) {
	c.Int("event_seq", &p.Seq)
	c.Text("from_agent_id", &p.From)
	c.OptBool("direct", &p.Direct)
	c.Object("at", &p.At)
	c.OptText("preferred", &p.Preferred)
	c.OptBool("preferred_listens", &p.Listens)
	c.OptBool("auto", &p.Auto)
	c.OptBool("unchanged", &p.Unchanged)
	c.OptInt("given_event_seq", &p.Given)
	c.OptText("given_from", &p.GivenFrom)
}

func (i *Instant) Fields(c *wire.Codec) {
	c.Time("wall", &i.Wall)
	c.OptText("boot_id", &i.Boot)
	c.OptInt("mono_ms", &i.Mono)
}

func (p *Policy) Fields(c *wire.Codec) {
	c.Int("owner_lease_ttl_ms", &p.OwnerLeaseTTL)
	c.Int("heartbeat_interval_ms", &p.HeartbeatInterval)
	c.Int("claim_ttl_ms", &p.ClaimTTL)
	c.Int("presence_ttl_ms", &p.PresenceTTL)
	c.Int("waiter_grace_ms", &p.WaiterGrace)
	c.Int("wait_for_turn_max_wait_ms", &p.WaitForTurn)
	c.Int("wait_for_events_max_wait_ms", &p.WaitForEvents)
	c.Int("gone_grace_ms", &p.GoneGrace)
	c.Int("idle_room_ttl_ms", &p.IdleRoomTTL)
	c.Int("wake_grace_ms", &p.WakeGrace)
	c.Int("idle_ttl_ms", &p.IdleTTL)
	c.Int("limit_ttl_ms", &p.LimitTTL)
	c.OptText("shell_guard", &p.ShellGuard)
	c.OptText("auto", &p.Auto)
	c.Text("ledger", &p.Ledger)
	c.Int("ledger_keep_ms", &p.LedgerKeep)
	c.Int("ledger_size", &p.LedgerSize)
	c.Int("ledger_wait_ms", &p.LedgerWait)
	c.Int("ledger_tick_ms", &p.LedgerTick)
}

func (m *Member) Fields(c *wire.Codec) {
	c.Text("agent_id", &m.AgentID)
	c.OptText("display_name", &m.DisplayName)
	c.OptText("session_kind", &m.SessionKind)
	c.Num("ordinal", &m.Ordinal)
	c.Time("joined_at", &m.JoinedAt)
	c.OptBool("observer", &m.Observer)
	c.OptInt("last_held_event_seq", &m.LastHeld)
	c.OptInt("direct", &m.Direct)
	c.OptInt("sent_broadcasts", &m.Sent)
	c.OptInt("broadcasts_before", &m.Broadcasts)
	c.OptInt("job_ends", &m.Jobs)
	c.OptInt("last_job_event_seq", &m.LastJob)
	c.OptObject("lost", &m.Lost, m.Lost == Loss{})
}

func (l *Loss) Fields(c *wire.Codec) {
	c.Text("event_type", &l.Type)
	c.Int("event_seq", &l.Seq)
	c.OptInt("turn_id", &l.Turn)
	c.OptText("by", &l.By)
	c.OptText("kind", &l.Kind)
	c.Time("at", &l.At)
	c.OptText("reason", &l.Why)
}

func (h *Former) Fields(c *wire.Codec) {
	c.Text("agent_id", &h.AgentID)
	c.OptInt("last_held_event_seq", &h.LastHeld)
	c.OptObject("lost", &h.Lost, h.Lost == Loss{})
	c.OptObject("removed", &h.Removed, h.Removed == Loss{})
}

func (n *Note) Fields(c *wire.Codec) {
	c.Text("note_id", &n.ID)
	c.Int("event_seq", &n.Seq)
	c.OptInt("turn_id", &n.Turn)
	c.Text("author_agent_id", &n.Author)
	c.OptText("target_agent_id", &n.Target)
	c.Text("severity", &n.Severity)
	c.Time("created_at", &n.CreatedAt)
}

func (n *NoteView) Fields(c *wire.Codec) {
	n.Note.Fields(c)
	c.Text("body", &n.Body)
	wire.TimeIfAny(c, "resolved_at", &n.ResolvedAt)
	c.OptText("resolved_by_agent_id", &n.ResolvedBy)
}

// The payloads of events.

func (p *openedPayload) Fields(c *wire.Codec) {
	c.Num("format", &p.Format)
	c.Text("canonical_path", &p.CanonicalPath)
	c.Text("workspace_root", &p.WorkspaceRoot)
	c.Object("policy", &p.Policy)
}

func (p *joinedPayload) Fields(c *wire.Codec) {
	c.OptText("display_name", &p.DisplayName)
	c.OptText("session_kind", &p.SessionKind)
	c.OptBool("agent_override", &p.Override)
	c.OptBool("observer", &p.Observer)
}

func (p *grantPayload) Fields(c *wire.Codec) {
	c.Text("lease_id", &p.Lease)
	c.OptInt("lease_ttl_ms", &p.TTL)
	c.OptText("host", &p.Host)
	c.Object("clock", &p.Clock)
	c.OptInt("handoff_event_seq", &p.Handoff)
	c.Text("kind", &p.Kind)
	c.Int("waited_ms", &p.Waited)
	c.OptBool("woken", &p.Woken)
	c.OptText("tree_before", &p.Trees.Before)
	c.OptText("tree_at", &p.Trees.At)
	c.OptBool("auto", &p.Auto)
}

func (p *releasePayload) Fields(c *wire.Codec) {
	c.Object("clock", &p.Clock)
	c.OptText("preferred", &p.Preferred)
	c.OptBool("preferred_listens", &p.Listens)
	c.OptBool("auto", &p.Auto)
	c.OptBool("unchanged", &p.Unchanged)
}

func (p *policyPayload) Fields(c *wire.Codec) { c.Object("policy", &p.Policy) }

func (k *clock) Fields(c *wire.Codec) {
	c.OptText("boot_id", &k.Boot)
	c.OptInt("mono_ms", &k.Mono)
}

func (p *messagePayload) Fields(c *wire.Codec) {
	c.Text("body", &p.Body)
	c.Text("delivery_hint", &p.Hint)
}

func (p *NotePayload) Fields(c *wire.Codec) {
	c.Text("note_id", &p.ID)
	c.Text("severity", &p.Severity)
	c.OptText("target_agent_id", &p.Target)
	c.OptInt("note_turn_id", &p.Turn)
	c.Text("body_preview", &p.Preview)
	c.Text("body", &p.Body)
	c.OptInt("previous_note_event_seq", &p.Previous)
}

func (p *ResolvedPayload) Fields(c *wire.Codec) {
	c.Text("note_id", &p.ID)
	c.OptText("replaced_by", &p.ReplacedBy)
	c.OptInt("previous_note_event_seq", &p.Previous)
}

// The results of commands.

func (v *RoomView) Fields(c *wire.Codec) {
	c.Text("room_id", &v.RoomID)
	c.Text("canonical_path", &v.CanonicalPath)
	c.Text("state", &v.State)
	c.Int("turn_id", &v.TurnID)
	c.OptText("owner", &v.Owner)
	c.OptText("reserved_for", &v.ReservedFor)
	wire.TimeIfAny(c, "lease_expires_at", &v.LeaseExpiresAt)
	wire.TimeIfAny(c, "claim_expires_at", &v.ClaimExpiresAt)
	c.OptInt("pending_handoff_event_seq", &v.PendingHandoff)
	c.Int("last_event_seq", &v.LastEventSeq)
	c.Time("updated_at", &v.UpdatedAt)
	wire.OptList(c, "trouble", &v.Trouble)
	c.OptObject("activity", &v.Activity, v.Activity.What == "")
	c.OptBool("path_missing", &v.PathMissing)
	c.OptObject("journal_shortened", v.JournalShortened, v.JournalShortened == nil)
}

func (v *MemberView) Fields(c *wire.Codec) {
	c.Text("agent_id", &v.AgentID)
	c.Text("display_name", &v.DisplayName)
	c.Num("ordinal", &v.Ordinal)
	c.Time("joined_at", &v.JoinedAt)
	c.Time("last_seen_at", &v.LastSeenAt)
	c.Bool("waiting", &v.Waiting)
	c.Text("status", &v.Status)
	c.Text("process", (*string)(&v.Process))
	wire.TimeIfAny(c, "gone_at", &v.GoneAt)
	c.Text("session_kind", &v.SessionKind)
	c.OptBool("observer", &v.Observer)
	c.OptText("listening", &v.Listening)
	c.Text("reach", &v.Reach)
	c.OptText("why", &v.Why)
	c.OptObject("activity", &v.Activity, v.Activity.What == "")
}

func (a *Activity) Fields(c *wire.Codec) {
	c.Text("what", &a.What)
	c.Time("since", &a.Since)
	c.Time("at", &a.At)
	c.OptText("tool", &a.Tool)
	c.OptText("detail", &a.Detail)
	c.Text("source", &a.Source)
}

func (r *WaitResult) Fields(c *wire.Codec) {
	c.Text("status", &r.Status)
	c.Text("room_id", &r.RoomID)
	if r.Status == WaitClosed {
		c.OptText("from_agent_id", &r.From)
		c.OptText("reason", &r.Reason)
		c.OptText("hint", &r.Evidence.Hint)
		return
	}
	c.OptText("room_state", &r.RoomState)
	c.Int("turn_id", &r.TurnID)
	c.OptText("lease_id", &r.LeaseID)
	c.OptRaw("handoff", &r.Handoff)
	c.OptBool("handoff_lost", &r.HandoffLost)
	c.OptRaw("verified", &r.Verified)
	c.OptText("from_agent_id", &r.From)
	c.OptText("revoked_agent_id", &r.Revoked)
	c.OptText("reason", &r.Reason)
	c.OptInt("last_handoff_event_seq", &r.LastHandoff)
	c.OptText("current_owner", &r.CurrentOwner)
	c.OptText("reserved_for", &r.ReservedFor)
	wire.TimeIfAny(c, "lease_expires_at", &r.LeaseExpiresAt)
	wire.TimeIfAny(c, "claim_expires_at", &r.ClaimExpiresAt)
	c.OptNum("guardian_pid", &r.GuardianPID)
	c.OptNum("granted_to_pid", &r.GrantedTo)
	c.OptNum("held_by_pid", &r.HeldBy)
	r.Briefing.fields(c)
	r.Evidence.fields(c)
	c.OptObject("inbox", r.Inbox, r.Inbox == nil)
	c.OptText("warning", &r.Warning)
	c.OptText("engine", &r.Engine)
}

func (b *Briefing) fields(c *wire.Codec) {
	wire.OptList(c, "notes", &b.Notes)
	c.OptNum("notes_total", &b.NotesTotal)
	c.OptObject("unread", &b.Unread, b.Unread == Unread{})
	wire.OptList(c, "missed", &b.Missed)
	c.OptRaw("changes", &b.Changes)
	c.OptNum("changes_more", &b.MoreChanges)
	c.OptRaw("interrupted", &b.Interrupted)
}

func (n *BriefNote) Fields(c *wire.Codec) {
	c.Text("note_id", &n.ID)
	c.OptInt("turn_id", &n.Turn)
	c.Text("author_agent_id", &n.Author)
	c.OptText("target_agent_id", &n.Target)
	c.Text("severity", &n.Severity)
	c.Text("body", &n.Body)
	c.OptBool("truncated", &n.Truncated)
}

func (u *Unread) Fields(c *wire.Codec) {
	c.OptInt("messages", &u.Messages)
	c.OptInt("notes", &u.Notes)
	c.OptInt("pages", &u.Pages)
	c.OptInt("questions", &u.Questions)
	c.OptInt("answers", &u.Answers)
	c.OptInt("jobs", &u.Jobs)
}

func (e *Evidence) fields(c *wire.Codec) {
	wire.TimeIfAny(c, "last_seen_at", &e.LastSeenAt)
	wire.TimeIfAny(c, "gone_since", &e.GoneSince)
	c.OptText("evidence", &e.Sentence)
	c.OptText("hint", &e.Hint)
}

func (r *ReleaseResult) Fields(c *wire.Codec) {
	c.Text("status", &r.Status)
	c.Text("room_id", &r.RoomID)
	c.OptText("reserved_for", &r.ReservedFor)
	if r.Recipient != nil && r.ReservedFor == "" {
		c.Text("offered_to", &r.Recipient.AgentID)
	}
	c.Int("event_seq", &r.EventSeq)
	if r.Recipient != nil {
		c.Object("recipient", r.Recipient)
	}
	c.OptText("turn", &r.Turn)
	c.OptText("hint", &r.Hint)
	c.OptRaw("changes", &r.Changes)
	c.OptBool("changes_pending", &r.ChangesPending)
	c.OptRaw("verified", &r.Verified)
	c.OptObject("unread", &r.Unread, r.Unread == Unread{})
}

func (v *RecipientView) Fields(c *wire.Codec) {
	c.Text("agent_id", &v.AgentID)
	c.OptText("listening", &v.Listening)
	c.Text("reach", &v.Reach)
}

func (a *Artifact) Fields(c *wire.Codec) {
	c.Text("path", &a.Path)
	c.OptInts("lines", &a.Lines)
	c.OptText("role", &a.Role)
	c.OptText("note", &a.Note)
}

func (h *Handoff) Fields(c *wire.Codec) {
	c.Text("status", &h.Status)
	c.Text("next_action", &h.NextAction)
	wire.OptList(c, "artifacts", &h.Artifacts)
	c.OptTexts("open_questions", &h.OpenQuestions)
	c.OptTexts("do_not", &h.DoNot)
}

// The types below are also part of results that are encoded by encoding/json.

func (v RoomView) MarshalJSON() ([]byte, error)      { return wire.Append(nil, &v), nil }
func (v MemberView) MarshalJSON() ([]byte, error)    { return wire.Append(nil, &v), nil }
func (t Trouble) MarshalJSON() ([]byte, error)       { return wire.Append(nil, &t), nil }
func (a Activity) MarshalJSON() ([]byte, error)      { return wire.Append(nil, &a), nil }
func (h Handoff) MarshalJSON() ([]byte, error)       { return wire.Append(nil, &h), nil }
func (p Policy) MarshalJSON() ([]byte, error)        { return wire.Append(nil, &p), nil }
func (r WaitResult) MarshalJSON() ([]byte, error)    { return wire.Append(nil, &r), nil }
func (r ReleaseResult) MarshalJSON() ([]byte, error) { return wire.Append(nil, &r), nil }
func (v Standing) MarshalJSON() ([]byte, error)      { return wire.Append(nil, &v), nil }
func (s State) MarshalJSON() ([]byte, error)         { return wire.Append(nil, &s), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *State) UnmarshalJSON(b []byte) error { return wire.Decode(b, s) }

func (v *Standing) Fields(c *wire.Codec) {
	c.Text("state", &v.State)
	c.Int("turn_id", &v.TurnID)
	c.OptText("owner", &v.Owner)
	c.OptText("reserved_for", &v.ReservedFor)
	c.OptText("offered_to", &v.OfferedTo)
	c.OptText("handoff_from", &v.From)
	wire.TimeIfAny(c, "since", &v.Since)
	wire.TimeIfAny(c, "lease_expires_at", &v.LeaseExpiresAt)
	wire.TimeIfAny(c, "claim_expires_at", &v.ClaimExpiresAt)
	wire.TimeIfAny(c, "offered_until", &v.OfferedUntil)
	c.OptText("process", (*string)(&v.Process))
	wire.TimeIfAny(c, "gone_at", &v.GoneAt)
	wire.OptList(c, "trouble", &v.Trouble)
	c.OptRaw("lost", &v.Lost)
}

func (t *Trouble) Fields(c *wire.Codec) {
	c.Text("what", &t.What)
	c.OptNum("pid", &t.PID)
	wire.TimeIfAny(c, "since", &t.Since)
	wire.TimeIfAny(c, "until", &t.Until)
	c.Text("do", &t.Do)
}
