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

	"github.com/nats-io/nkeys"
	"github.com/spf13/pflag"
)

// Set by the linker.
var version = "dev"

const usage = `Tt-natsd is the server for rooms that several hosts share.

Usage:
  tt-natsd --listen HOST:PORT --store DIR [--config FILE] [--new] [--restored]
  tt-natsd --new --store DIR
  tt-natsd --new-key FILE

It keeps everything in DIR, and syncs it before it acknowledges. When it is ready, it prints
"listening nats://HOST:PORT" on standard output. TERM or INT ends it. It refuses changes
while less than 64 MiB (or a twentieth) of the file system is free.

A store is made with --new alone, or by a first start with it. A store that was copied back, from a backup or another
machine, is refused: what was acknowledged after the copy is not in it. Started once with
--restored, it lets hosts give back what they have, by "tt doctor --repair", and refuses every
other change until one of them says "tt doctor --repair --open". --new --restored is an empty
store in the place of one that was lost.

FILE is a configuration of nats-server: TLS, users and their permissions, the other servers
of a cluster. --listen and --store win over it, and what is needed for durability cannot be
switched off. It prints to standard error what an operator has to know; log_file and the like
have no effect. "docs/hosts.md" has examples, and what to do when a disk or a server is lost.

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
	flags.StringVar(&o.monitor, "monitor", "", "the address of /healthz and the other pages of nats-server")
	flags.BoolVar(&o.create, "new", false, "make the store, which must not be there")
	flags.BoolVar(&o.restored, "restored", false, "the store was copied back, or with --new takes the place of one that was lost")
	newKey := flags.String("new-key", "", "write a new key of a user to the file, and print what stands for it in --config")
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
	case *newKey != "":
		public, err := makeKey(*newKey)
		if err != nil {
			return fail(stderr, 1, err)
		}
		fmt.Fprintln(stdout, public)
		return 0
	}
	if o.create && !o.restored && o.store != "" && o.listen == "" {
		s, err := openStore(o)
		if err != nil {
			return fail(stderr, 1, err)
		}
		defer s.Close()
		fmt.Fprintf(stdout, "made the store %s\n", o.store)
		return 0
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

// makeKey writes the seed of a new key to a file, which must not be there, and returns the
// public key.
func makeKey(path string) (public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	defer pair.Wipe()
	seed, err := pair.Seed()
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(seed, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return pair.PublicKey()
}

// options are the flags.
type options struct {
	listen, store, config, monitor string
	create, restored               bool // --new, --restored

	closing bool // no clients are let in: the streams are closed, and that is all
}

func (o options) check() error {
	if o.listen == "" || o.store == "" {
		return errors.New("--listen and --store are missing")
	}
	if _, _, err := splitAddress(o.listen); err != nil {
		return err
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
