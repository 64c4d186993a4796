// Package forms compares the JSON that types are written as with what it was before.
package forms

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/talking-stick/tt/journal/wire"
)

var update = flag.Bool("update-forms", false, "write the JSON as it is now")

// Check compares the JSON of values of the types that the pointers point to, one with all fields
// and a zero one, with the lines of the file at path. Records are also read, and written again;
// results are only written.
func Check(t *testing.T, path string, records, results []any) {
	t.Helper()
	var got []byte
	for i, v := range slices.Concat(records, results) {
		name := reflect.TypeOf(v).Elem().Name()
		got = append(wire.Append(fmt.Appendf(got, "%s zero ", name), v), '\n')
		Fill(v)
		full := wire.Append(nil, v)
		got = append(append(fmt.Appendf(got, "%s full ", name), full...), '\n')
		if i >= len(records) {
			continue
		}
		again := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		if err := wire.Decode(full, again); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if second := wire.Append(nil, again); !bytes.Equal(second, full) {
			t.Errorf("%s\n%s is read and written as\n%s", name, full, second)
		}
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(want, []byte("\n"))
	for i, line := range bytes.Split(got, []byte("\n")) {
		if i >= len(lines) || !bytes.Equal(line, lines[i]) {
			t.Errorf("line %d of %s is another one now:\n%s", i+1, path, line)
		}
	}
}

// Fill sets all fields of the struct that v points to, to values that follow from their names.
func Fill(v any) { fill(reflect.ValueOf(v).Elem(), "") }

func fill(v reflect.Value, name string) {
	if !v.CanSet() {
		return
	}
	h := fnv.New32()
	_, _ = h.Write([]byte(name))
	number := int64(h.Sum32()%9000) + 1
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`{"raw":"` + name + `"}`))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(1_700_000_000_000 + number).UTC()))
		return
	case time.Duration:
		v.SetInt(number * int64(time.Millisecond))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(number)
	case reflect.Uint64, reflect.Uint32:
		v.SetUint(uint64(number))
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), name)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), fmt.Sprint(name, i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name)
		}
	}
}
