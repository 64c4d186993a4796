// Package topic is the agent bus as pure functions: topics, on which agents ask
// each other questions, and the rules of answering them.
//
// A topic is a [State], the fold of its journal. A request goes through four
// steps, each of which is a function of its arguments only:
//
//	ParseX(args, limits)     what an agent sent, forgiven and checked    args.go, request*.go
//	(*State).X(…)            the events that carry it out, or a refusal  decide.go, answer.go
//	(*State).Apply(event)    the fold, live and on replay alike          apply.go
//	(*State).XResult(…)      what the agent is told, and as text         view.go, result*.go, render.go
//
// Nothing here reads a clock or a disk. New ids come in as functions, times
// come from the events, and results are views of the state after the change, so
// that what is told is what was stored.
//
// The rules in short: any number of peers may answer a question, each once and
// never its own; only the asker cancels a question or marks it answered; a
// closed topic takes no new questions, and everything else goes on. An agent is
// its agent_name: from_agent_id of an event is the name under which a session
// joined.
//
// # Size
//
// A topic's state is written anew with every change, so it holds only what
// decisions need. The texts of questions and answers stay in the journal and
// are read from there by event_seq through a [Lookup]. A pending question
// costs the state about 150 bytes and 50 more per answer. Once it is cancelled or
// marked answered only who asked, how it ended and where its answers stand is
// kept, about 100 bytes, and that only until [KeptSettled] others were settled after
// it. A question that the state has forgotten is found in the state that [NewHistory] and the
// whole journal give.
//
// Each answer is one event. A batch of answers is one change: the journal
// stores all of its lines or none. One line for a whole batch would be simpler,
// but fifty answers of the greatest length do not fit into one.
package topic
