package turn

import (
	"testing"

	"github.com/talking-stick/tt/fsroom/fsroomtest/forms"
)

// TestForms: the JSON of states, payloads and results stays as it is.
func TestForms(t *testing.T) {
	t.Parallel()
	forms.Check(t, "testdata/forms.txt", []any{new(State), new(Lease), new(ProcessID), new(Proof), new(Policy), new(Member),
		new(openedPayload), new(joinedPayload), new(grantPayload), new(releasePayload), new(policyPayload), new(clock),
		new(Activity), new(Artifact), new(Handoff), new(changePayload), new(TreeChange), new(MissedHandoff)},
		[]any{new(RoomView), new(MemberView), new(WaitResult), &WaitResult{Status: WaitClosed}, new(ReleaseResult), new(Standing), new(Trouble)})
}
