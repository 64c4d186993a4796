package jetstream

import "testing"

func TestNeedsTLS(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:4222": false, "[::1]:4222": false, "localhost:4222": false, "localhost": false, "10.1.2.3:4222": false, "172.17.0.2:1": false,
		"192.168.1.1:1": false, "[fd00::1]:1": false, "[fe80::1%eth0]:1": false, "100.64.3.4:1": false, "[::ffff:10.0.0.1]:1": false,
		"tt-natsd:4222": false, "host.docker.internal:4222": false, "printer.local": false, "HOST.LAN:1": false, "a.home.arpa": false,
		"8.8.8.8:4222": true, "[2001:db8::1]:4222": true, "172.32.0.1:1": true, "100.128.0.1:1": true, "tt.example.com:4222": true,
		"example.com.": true, "[::ffff:8.8.8.8]:1": true, "10.0.0.1.example.com": true, "local.example.com": true,
	} {
		if got := needsTLS(host); got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}
