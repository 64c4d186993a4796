package main

import (
	"strings"
	"testing"
	"time"

	"github.com/talking-stick/tt/cmd/tt-nats/jetstream/natstest"
)

// twoHosts returns two stages that share an engine: each is a host.
func twoHosts(t *testing.T) (server *natstest.Server, one, two *stage) {
	t.Helper()
	server = natstest.Start(t)
	url := server.Namespace(t)
	for _, s := range []**stage{&one, &two} {
		*s = newStage(t, false)
		(*s).env["TALKING_STICK_ENGINE"] = url
		(*s).env["TALKING_STICK_ROOM"] = "agent-bus" // this source may be in a working tree that was added, which has no engine without
	}
	return server, one, two
}

// madeOnce is the id of the topic of a name, which is made if nobody has made it.
func (p *peer) madeOnce(name string) string {
	p.Helper()
	return p.ok("topic_create", f(`{"name":%q}`, name))["topic_id"].(string)
}

func TestAgentsOnTwoHostsAskAndAnswer(t *testing.T) {
	_, one, two := twoHosts(t)
	cat := one.as("cat")
	red := two.peer()
	if two.id = red.madeOnce("pink"); two.id != one.id {
		t.Fatalf("the second host made topic %s beside %s", two.id, one.id)
	}
	if in := red.join(two.id, "red"); in["engine"] != one.env["TALKING_STICK_ENGINE"] {
		t.Errorf("topic_join says %v", in)
	}
	// The question wakes the other host, and the answer wakes this one.
	asked := cat.start(t.Context(), "ask", f(`{"topic_id":%q,"question":"why?",%s}`, one.id, waitLong))
	red.answers(red.waitForQuestion())
	if got := <-asked; got.body["status"] != "answered" {
		t.Errorf("ask on the first host: %v %s", got.err, got.text)
	}
	// Who is there is known on both hosts.
	if got := cat.call("topic_join", f(`{"topic_id":%q,"agent_name":"cat","agents":true}`, one.id)); !strings.Contains(got.text, "red") {
		t.Errorf("the first host does not know who has joined on the second: %s", got.text)
	}
	if got := two.peer().call("topic_join", f(`{"topic_id":%q,"agent_name":"cat"}`, one.id)); !strings.Contains(got.text, "AGENT_NAME_IN_USE") {
		t.Errorf("the name of an agent on another host: %s", got.text)
	}
}

func TestHostsMakeOneTopicOfAName(t *testing.T) {
	_, one, two := twoHosts(t)
	peers := []*peer{one.peer(), one.peer(), two.peer(), two.peer()}
	ids := make([]string, len(peers))
	var dos []func()
	for i, p := range peers {
		dos = append(dos, func() { ids[i] = p.madeOnce("blue") })
	}
	all(dos...)
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("topics: %q", ids)
		}
	}
	one.peer().ok("topic_close", f(`{"topic_id":%q}`, ids[0]))
	if next := two.peer().madeOnce("blue"); next == ids[0] || next != one.peer().madeOnce("blue") {
		t.Error("no topic follows a closed one")
	}
	for _, s := range []*stage{one, two} {
		if _, out, errs := s.cli("", "cli", "topics", "list", "--json", "--status", "all"); strings.Count(out, `"topic_id"`) != 2 {
			t.Errorf("topics list: %s%s", out, errs)
		}
	}
}

func TestTheEngineIsAway(t *testing.T) {
	server, one, _ := twoHosts(t)
	cat := one.as("cat")
	server.Stop() // it answers nothing, and the connection stays
	for _, call := range [][2]string{
		{"topic_list", `{}`},
		{"topic_create", `{"name":"blue"}`},
		{"ask", f(`{"topic_id":%q,"question":"why?","wait_seconds":0}`, one.id)},
		{"pending_list", f(`{"topic_id":%q,"wait_seconds":0}`, one.id)},
		{"topic_join", f(`{"topic_id":%q,"agent_name":"dog"}`, one.id)},
	} {
		spent := took(func() { cat.refused("ENGINE_UNREACHABLE", call[0], call[1]) })
		t.Logf("%s: %v", call[0], spent)
	}
	cat.ok("ping", `{}`)
	status, out, errs := one.cli("", "cli", "topics", "list", "--json")
	if status != 0 || !strings.Contains(out, "pink") || !strings.Contains(errs, "this host knew last") {
		t.Errorf("topics list: %d %s%s", status, out, errs)
	}
	server.Continue()
	deadline := time.Now().Add(time.Minute)
	for got := cat.call("topic_list", `{}`); got.code != ""; got = cat.call("topic_list", `{}`) {
		if time.Now().After(deadline) {
			t.Fatalf("the engine is back: %s", got.text)
		}
	}
}

func TestAnEngineThatIsNotKnown(t *testing.T) {
	s := newStage(t, false)
	s.env["TALKING_STICK_ENGINE"] = "acme"
	s.env["TALKING_STICK_ROOM"] = "pink" // this source may be in a working tree that was added, which has no engine without
	p := s.peer()
	p.refused("ENGINE_MISSING", "topic_create", `{"name":"pink"}`)
	p.ok("ping", `{}`)
}

func TestTopicsOfAnEngineAreKept(t *testing.T) {
	_, one, _ := twoHosts(t)
	one.pink()
	for _, args := range [][]string{{"cli", "db", "wipe", "--yes"}, {"cli", "archive", "pink"}} {
		if status, _, errs := one.cli("", args...); status == 0 || !strings.Contains(errs, "engine") {
			t.Errorf("%q: %d %s", args, status, errs)
		}
	}
}
