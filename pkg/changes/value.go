package changes

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Value is the value of a field, as JSON on one line. The empty Value is that of a field
// that is not there. Values are equal where they are the same text.
type Value string

// ValueOf returns the Value of what a field of an unstructured object can have.
func ValueOf(value any) (Value, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // people read it
	err := encoder.Encode(value)
	return Value(strings.TrimSuffix(b.String(), "\n")), err
}

// Text returns the Value of a text.
func Text(text string) Value {
	value, _ := ValueOf(text) // every text can be encoded
	return value
}

// String returns a text that stands on one line as it is, and everything else as JSON.
func (v Value) String() string {
	var text string
	if err := json.Unmarshal([]byte(v), &text); err != nil || text == "" || text != strings.TrimSpace(text) {
		return string(v)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return string(v)
	}
	return text
}

// MarshalJSON returns the value itself.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(v), nil }

// UnmarshalJSON reads a value, however it is laid out and escaped.
func (v *Value) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	var err error
	*v, err = ValueOf(value)
	return err
}
