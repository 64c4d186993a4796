// Tt-natsd is the server for rooms that several hosts share: NATS JetStream in one
// program, with the settings that tt needs. It acknowledges nothing before it is on disk,
// and makes the streams itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/pflag"
)

// Set by the linker.
var version = "dev"

const usage = `Tt-natsd is the server for rooms that several hosts share.

Usage:
  tt-natsd --listen HOST:PORT --store DIR [--config FILE]

It keeps everything in DIR, and syncs it before it acknowledges. When it is ready, it prints
"listening nats://HOST:PORT" on standard output. TERM or INT ends it.

FILE is a configuration of nats-server: TLS, users and their permissions, the other servers
of a cluster. --listen and --store win over it, and what is needed for durability cannot be
switched off. "docs/hosts.md" has examples.

Flags:
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := pflag.NewFlagSet("tt-natsd", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&o.listen, "listen", "", "the address to listen on; port 0 is any free one")
	flags.StringVar(&o.store, "store", "", "the directory to keep everything in")
	flags.StringVar(&o.config, "config", "", "a configuration file of nats-server")
	flags.IntVar(&o.replicas, "replicas", 0, "on how many servers of a cluster each change is stored: 1, 3 or 5 (default: 3 in a cluster)")
	flags.StringVar(&o.monitor, "monitor", "", "the address of /healthz and the other pages of nats-server")
	showVersion := flags.Bool("version", false, "print the version")
	help := flags.BoolP("help", "h", false, "print this help")
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		return fail(stderr, 2, err)
	}
	switch {
	case *help:
		fmt.Fprint(stdout, usage, flags.FlagUsages())
		return 0
	case *showVersion:
		fmt.Fprintln(stdout, "tt-natsd", version)
		return 0
	case flags.NArg() > 0:
		return fail(stderr, 2, fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	}
	if err := o.check(); err != nil {
		return fail(stderr, 2, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx, o, stdout, stderr); err != nil {
		return fail(stderr, 1, err)
	}
	return 0
}

func fail(stderr io.Writer, status int, err error) int {
	fmt.Fprintf(stderr, "tt-natsd: %v\n", err)
	if status == 2 {
		fmt.Fprintln(stderr, `hint: see "tt-natsd --help"`)
	}
	return status
}

// options are the flags.
type options struct {
	listen, store, config, monitor string
	replicas                       int
}

func (o options) check() error {
	if o.listen == "" || o.store == "" {
		return errors.New("--listen and --store are missing")
	}
	if _, _, err := splitAddress(o.listen); err != nil {
		return err
	}
	if o.replicas < 0 || o.replicas > 5 || o.replicas > 0 && o.replicas%2 == 0 {
		return fmt.Errorf("--replicas is 1, 3 or 5, not %d", o.replicas)
	}
	if o.monitor != "" {
		_, _, err := splitAddress(o.monitor)
		return err
	}
	return nil
}

func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || host == "" || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%q is no address; write HOST:PORT", address)
	}
	return host, port, nil
}
