package validations

import (
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"strings"
	"time"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// What fits into the objects of Cluster API.
const (
	maxArgument = 1024  // bytes of an argument's value
	maxContent  = 10240 // bytes of a file on a machine
)

// argument is text that becomes the value of an argument.
func argument(value string, path *field.Path) field.ErrorList {
	return atMost(value, maxArgument, path)
}

// content is text that becomes a file on machines. Where it begins with a space
// or an empty line, an empty comment is put before it.
func content(text string, path *field.Path) field.ErrorList {
	most := maxContent
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") {
		most -= len("#\n")
	}
	return atMost(text, most, path)
}

// atMost does not repeat text that is too long.
func atMost(text string, most int, path *field.Path) field.ErrorList {
	if len(text) <= most {
		return nil
	}
	return field.ErrorList{withoutValue(path, fmt.Sprintf("must have at most %d bytes, and has %d; shorten it", most, len(text)))}
}

// tooMany says how many entries a list has instead of repeating it.
func tooMany(path *field.Path, number int, detail string) *field.Error {
	return withoutValue(path, fmt.Sprintf("has %d entries and %s", number, detail))
}

// withoutValue is an error about a value that is too long to be shown.
func withoutValue(path *field.Path, detail string) *field.Error {
	return field.Invalid(path, field.OmitValueType{}, detail)
}

// count is a number of things that Cluster API's objects can hold.
func count(number, least int, path *field.Path) field.ErrorList {
	switch {
	case number < least:
		return field.ErrorList{field.Invalid(path, number, fmt.Sprintf("must be %d or more", least))}
	case number > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, number, fmt.Sprintf("must be %d or less", math.MaxInt32))}
	}
	return nil
}

func oddCount(number int, why string, path *field.Path) field.ErrorList {
	if errs := count(number, 1, path); len(errs) > 0 {
		return errs
	}
	if number%2 == 0 {
		return field.ErrorList{field.Invalid(path, number, fmt.Sprintf("must be odd: %s, and an even number survives no more failures than one less; use %d or %d", why, number-1, number+1))}
	}
	return nil
}

// seconds is a duration as Cluster API's objects can hold it.
func seconds(duration *v1alpha1.Duration, path *field.Path) field.ErrorList {
	const most = math.MaxInt32 * time.Second
	switch {
	case duration == nil:
		return nil
	case duration.Duration > most:
		return field.ErrorList{field.Invalid(path, duration.String(), fmt.Sprintf("must be %s or less", most))}
	case duration.Duration%time.Second != 0:
		return field.ErrorList{field.Invalid(path, duration.String(), fmt.Sprintf("must be whole seconds; use %s or %s", duration.Truncate(time.Second), duration.Truncate(time.Second)+time.Second))}
	}
	return nil
}

// validHost reports whether text is a DNS name, or an address without brackets.
func validHost(text string) bool {
	addr, err := netip.ParseAddr(text)
	return err == nil && addr.Zone() == "" || validDomain(text)
}

// validDomain reports whether text is a DNS name. One that ends in a number would
// be taken for an address.
func validDomain(text string) bool {
	last := text[strings.LastIndexByte(text, '.')+1:]
	return strings.Trim(last, "0123456789") != "" && len(utilvalidation.IsDNS1123Subdomain(text)) == 0
}

// validHostPort reports whether text is HOST:PORT, an IPv6 address in brackets.
func validHostPort(text string) bool {
	colon := strings.LastIndexByte(text, ':')
	var port v1alpha1.Port
	if colon < 0 || port.UnmarshalText([]byte(text[colon+1:])) != nil {
		return false
	}
	address, err := netip.ParseAddrPort(text)
	return err == nil && address.Addr().Zone() == "" || validDomain(text[:colon])
}

// validServer reports whether text is HOST or HOST:PORT.
func validServer(text string) bool { return validHostPort(text) || validHostPort(text+":443") }

// issuer is the address of who issues tokens, which becomes an argument.
func issuer(text string, path *field.Path) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(path, "the address of the issuer, such as https://issuer.example.com")}
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" || address.User != nil || strings.ContainsAny(text, "?#") || !validServer(strings.ToLower(address.Host)) {
		return field.ErrorList{field.Invalid(path, hidden(text), "must be an address such as https://issuer.example.com/path: https, a host, no user, and no query or fragment")}
	}
	return argument(text, path)
}

// hidden is an address without what might be a password.
func hidden(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	scheme, _, found := strings.Cut(address, "://")
	if !found {
		return "..." + address[at:]
	}
	return scheme + "://..." + address[at:]
}
