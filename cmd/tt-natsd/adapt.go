package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
)

// adapt makes a stream that is there what it has to be: every setting is compared, those too that
// are not ours, since one of them may let the server acknowledge before it syncs. On how many servers
// a stream is, is left as it is.
func (s *setup) adapt(ctx context.Context, u *user, want, have server.StreamConfig) error {
	if want.Name == entries {
		s.keepMetadata(&want, have)
	} else {
		want.Metadata = have.Metadata
	}
	want.Replicas, want.Placement, want.Description = have.Replicas, have.Placement, have.Description
	want.Duplicates, want.ConsumerLimits = have.Duplicates, have.ConsumerLimits
	if relax(&want); want.Name == agents && have.PersistMode != want.PersistMode { // which cannot be changed
		if _, err := call(ctx, u.conn, "DELETE."+agents, nil); err != nil {
			return err
		}
		return s.ensure(ctx, u, want)
	}
	was, err := json.Marshal(have)
	wanted, wantErr := json.Marshal(want)
	if err = errors.Join(err, wantErr); err != nil || bytes.Equal(was, wanted) {
		return err
	}
	_, err = call(ctx, u.conn, "UPDATE."+want.Name, want)
	if refused := (*server.ApiError)(nil); errors.As(err, &refused) && !passes(refused) {
		return fmt.Errorf("%w: %s: %w", errUnfit, want.Name, err)
	}
	if err == nil {
		s.warn("stream %s is changed: its settings were not those that tt needs", want.Name)
	}
	return err
}

// keepMetadata gives the configuration of the stream of entries the metadata of the one that is
// there, and closes it if that one is closed. A store that is restored gets a later epoch,
// once: a start that was interrupted goes on with the one that it got.
func (s *setup) keepMetadata(config *server.StreamConfig, have server.StreamConfig) {
	config.Metadata = maps.Clone(have.Metadata)
	if config.Metadata == nil {
		config.Metadata = make(map[string]string)
	}
	closed := config.Metadata[metaRestored] != ""
	if before, err := strconv.ParseInt(config.Metadata[metaEpoch], 10, 64); err != nil || s.restored && !closed {
		config.Metadata[metaEpoch] = epoch(before)
	}
	if s.restored {
		config.Metadata[metaRestored] = "true"
	}
	if s.restored || closed {
		shut(config)
		s.health.closed.Store(true)
	}
}

// relax lets the stream of agents be acknowledged before it is synced, where one server keeps it:
// for more, there is no such setting.
func relax(config *server.StreamConfig) {
	if config.Name == agents && config.Replicas == 1 {
		config.PersistMode = server.AsyncPersistMode
	}
}
