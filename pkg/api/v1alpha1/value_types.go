package v1alpha1

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Duration is written as numbers with units: 500ms, 90s, 1m30s.
type Duration struct{ time.Duration }

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return errors.New("write a duration such as 90s or 1m30s, or 0s")
	}
	d.Duration = parsed
	return nil
}

// IntOrPercent is a number of machines, or a part of them: 3, 40%.
type IntOrPercent struct {
	Value   int
	Percent bool
}

// String is the number, with a percent sign where it is a part.
func (i IntOrPercent) String() string {
	if i.Percent {
		return strconv.Itoa(i.Value) + "%"
	}
	return strconv.Itoa(i.Value)
}

// MarshalText writes what UnmarshalText reads.
func (i IntOrPercent) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads decimal digits, with or without a percent sign.
func (i *IntOrPercent) UnmarshalText(text []byte) error {
	digits, percent := strings.CutSuffix(string(text), "%")
	value, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(value) != digits {
		return errors.New("write a number of machines such as 2, or a percentage such as 40%")
	}
	*i = IntOrPercent{Value: value, Percent: percent}
	return nil
}

// Port is the port of an address: a number from 1 to 65535.
type Port uint16

// MarshalText writes the port in decimal digits.
func (p Port) MarshalText() ([]byte, error) { return []byte(strconv.Itoa(int(p))), nil }

// UnmarshalText reads a port with or without quotes in the file. The zero value,
// which is no port, cannot be written.
func (p *Port) UnmarshalText(text []byte) error {
	value, err := strconv.ParseUint(string(text), 10, 16)
	if err != nil || value == 0 || strconv.FormatUint(value, 10) != string(text) {
		return errors.New("must be a port: a number from 1 to 65535")
	}
	*p = Port(value)
	return nil
}

// Content is the text of a file, with its line breaks.
type Content string

// MarshalText writes the text as it is.
func (c Content) MarshalText() ([]byte, error) { return []byte(c), nil }

// UnmarshalText reads text of any number of lines.
func (c *Content) UnmarshalText(text []byte) error {
	if err := strictyaml.CheckLines(string(text)); err != nil {
		return err
	}
	*c = Content(text)
	return nil
}

// Confidential keeps the text, which may be a key, out of problems.
func (*Content) Confidential() {}
