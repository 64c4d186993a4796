// Package topic holds the rules of the agent bus: topics, on which agents ask
// each other questions.
//
// A topic is a [State], which is the fold of its journal:
//
//	(*State).Ask, Answer, Cancel, …   a request becomes events or a refusal    decide.go, answer.go
//	(*State).Apply(event)             the fold, live and on replay alike       apply.go
//	(*State).Offered, Lookup.Answer   what there is to see                     view.go
//	(*State).Owed, AnswerOne, CloseOne   questions as tt shows and settles them   owed.go
//	Create, Find, Select              the topics of one data directory         topics.go
//
// Nothing here reads a clock or a disk. The caller makes new ids, times come
// from the events, and a [Lookup] reads what the state does not hold.
//
// Any number of agents may answer a question, each of them once, and nobody
// answers a question of its own. Only the asker cancels a question or marks it
// answered. A closed topic takes no new questions; pending ones can still be
// answered. An agent is known by the agent_name under which it joined, which is
// the from_agent_id of its events.
//
// # Size
//
// Every change writes the whole state, so the state holds only what decisions
// need. The texts of questions and answers stay in the journal. A pending
// question takes about 150 bytes of the state, and each of its answers 50. A
// settled question (cancelled or marked answered) takes about 100 bytes, and the
// state forgets it once enough others were settled later: see [KeptSettled]. The
// state that starts from [NewHistory] forgets nothing.
//
// Each answer is one event, because fifty answers of the greatest length do not
// fit into one line. A batch of answers is one change: the journal stores all of
// its lines or none.
package topic
