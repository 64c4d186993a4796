package identity_test

import (
	"testing"

	"github.com/talking-stick/tt/identity"
)

func TestVerdict(t *testing.T) {
	type table = fakeTable
	for _, c := range []struct {
		name   string
		change func(t *table, pid int, p *identity.Process)
		want   identity.Verdict
	}{
		{"untouched", func(t *table, pid int, p *identity.Process) {}, identity.Alive},
		{"another program after exec", func(t *table, pid int, p *identity.Process) { t.Exec(pid, "vim") }, identity.Alive},
		{"ended", func(t *table, pid int, p *identity.Process) { t.End(pid) }, identity.Gone},
		{"zombie", func(t *table, pid int, p *identity.Process) { t.Zombify(pid) }, identity.Gone},
		{"pid reused", func(t *table, pid int, p *identity.Process) { t.StartAs(pid, 1, "claude") }, identity.Gone},
		{"rebooted", func(t *table, pid int, p *identity.Process) {
			t.Move(fakeHost, "boot2", fakeNamespace)
		}, identity.Gone},
		{"cannot be inspected", func(t *table, pid int, p *identity.Process) { t.Hide(pid) }, identity.Unknown},
		{"seen from another host", func(t *table, pid int, p *identity.Process) {
			t.Move("elsewhere", "boot2", fakeNamespace)
		}, identity.Unknown},
		{"seen from a container", func(t *table, pid int, p *identity.Process) {
			t.Move(fakeHost, fakeBoot, "4026532000")
		}, identity.Unknown},
		{"ended, seen from a container", func(t *table, pid int, p *identity.Process) {
			t.End(pid)
			t.Move(fakeHost, fakeBoot, "4026532000")
		}, identity.Unknown},
		{"caller's boot unknown", func(t *table, pid int, p *identity.Process) {
			t.Move(fakeHost, "", fakeNamespace)
		}, identity.Unknown},
		{"no pid", func(t *table, pid int, p *identity.Process) { p.PID = 0 }, identity.Unknown},
		{"negative pid", func(t *table, pid int, p *identity.Process) { p.PID = -1 }, identity.Unknown},
		{"no start", func(t *table, pid int, p *identity.Process) { p.Start = 0 }, identity.Unknown},
		{"no boot", func(t *table, pid int, p *identity.Process) { p.Boot = "" }, identity.Unknown},
		{"no host", func(t *table, pid int, p *identity.Process) { p.Host = "" }, identity.Unknown},
		{"zero value", func(t *table, pid int, p *identity.Process) { *p = identity.Process{} }, identity.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := newFakeTable()
			pid := table.Start(1, "claude")
			table.Call(pid)
			p := table.Process(pid)
			c.change(table, pid, &p)
			if got := table.Verdict(p); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
