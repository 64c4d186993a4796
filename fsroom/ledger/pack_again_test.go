package ledger

import (
	"os"
	"testing"
)

// The same objects make a pack of the same name. One that is durable is not written again.
func TestDurablePackIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none := func(string) error { return nil }
	objects := map[ID][]byte{{1}: []byte("one")}
	index, err := writePack(dir, objects, none)
	if err == nil {
		err = syncPack(index, none)
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := writePack(dir, objects, none)
	if names, _ := os.ReadDir(dir); err != nil || again != packOf(index)+".idx" || len(names) != 2 {
		t.Errorf("%s again: %s, %v, %v", index, again, names, err)
	}
}
