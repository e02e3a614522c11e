package helper

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestPacked sends a plan whose every text has bytes that are no letters. A field that is added to Plan and not to its
// packing makes this fail.
func TestPacked(t *testing.T) {
	var plan Plan
	fill(reflect.ValueOf(&plan).Elem())
	plan.Kind = Namespaces
	data, err := json.Marshal(plan.Packed())
	if err != nil {
		t.Fatal(err)
	}
	var got Plan
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got = got.unpacked(); !reflect.DeepEqual(got, plan) {
		t.Errorf("got %#v\nwant %#v", got, plan)
	}
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("a/\xff\xfe/é\n")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}
