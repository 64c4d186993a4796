package mirror

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/talking-stick/tt/fsroom"
	"github.com/talking-stick/tt/fsroom/code"
	"github.com/talking-stick/tt/fsroom/engine"
	"github.com/talking-stick/tt/journal/event"
)

// explainEngine gives an error of the engine a code. What it says that the engine has lost is noted in
// the mirror, and an engine that has less than the mirror is closed to the changes of all hosts: what it
// grants may be somebody's.
func (r *mirror[S]) explainEngine(err error) error {
	behind := (*engine.BehindError)(nil)
	less := errors.Is(err, engine.ErrRewound) || errors.As(err, &behind)
	if err = ExplainEngine(err, r.Name()); code.Of(err) != code.EngineRewound && code.Of(err) != code.EngineRestored || !r.HasDir() {
		return err
	}
	if r.Kept(fsroom.LostFile) == "" {
		r.Keep(fsroom.LostFile, string(code.Of(err)))
	}
	if less {
		r.Keep(fsroom.LostFile, lessThanHere)
		ctx, cancel := context.WithTimeout(context.Background(), engine.Patience)
		defer cancel()
		_ = r.engine.Shut(ctx, r.Store().Options().Host, r.readMarker().At.Time) // else the next command does
	}
	return err
}

// lessThanHere is in the file of that name where the engine has less than the mirror.
const lessThanHere = "engine_rewound"

// confirmed notes that the engine has all that the mirror has, and, if it has taken an entry of this host, takes changes.
func (r *mirror[S]) confirmed(taken bool) {
	if lost := r.Kept(fsroom.LostFile); lost == lessThanHere || lost != "" && taken {
		_ = os.Remove(filepath.Join(r.Dir(), fsroom.LostFile))
	}
}

// ExplainEngine gives an error of an engine a code. The room may be "".
func ExplainEngine(err error, room string) error {
	var coded *code.Error
	var behind *engine.BehindError
	switch {
	case err == nil, errors.As(err, &coded), errors.Is(err, engine.ErrConflict), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &behind) && errors.As(behind.Err, &coded) && coded.Code == code.EngineRestored:
		return coded.Because(err) // it would refuse a change for that, too
	case errors.Is(err, engine.ErrRewound):
		return code.New(code.EngineRewound, "the engine has less of room %s than this host", room).
			WithHint(`nothing was changed; "tt doctor --repair" gives the engine what it lost`).With("room_id", room).Because(err)
	case errors.Is(err, engine.ErrTooLarge):
		return code.New(code.BodyTooLarge, "the change is larger than the engine takes").
			WithHint("nothing was changed; say it shorter").Because(err)
	}
	return errUnreachable(err)
}

func errUnreachable(err error) error {
	e := code.New(code.EngineUnreachable, "the engine cannot be reached: %v", err).
		WithHint("nothing was changed; look at the network and the server, and try again").Because(err)
	why := engine.UnreachableError{Since: time.Now()}
	if known := (*engine.UnreachableError)(nil); errors.As(err, &known) {
		why = *known
	}
	return e.With("since", event.NewTime(why.Since)).With("servers", why.Servers)
}
