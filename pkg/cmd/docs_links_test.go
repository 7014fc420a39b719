package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryLinkInADocumentLeadsSomewhere: to a file, and to a heading of it.
func TestEveryLinkInADocumentLeadsSomewhere(t *testing.T) {
	t.Parallel()
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(link[1], "#")
			target := filepath.Join(filepath.Dir(file), path)
			if path == "" {
				target = file
			}
			linked, err := os.ReadFile(target)
			if err != nil {
				t.Errorf("%s: %s: %v", file, link[1], err)
			} else if anchor != "" && !hasHeading(string(linked), anchor) {
				t.Errorf("%s: %s: no such heading", file, link[1])
			}
		}
	}
}

// hasHeading reports whether a document has the heading of an anchor, as Markdown viewers
// name it.
func hasHeading(document, anchor string) bool {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(document, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		if strings.ReplaceAll(name, " ", "-") == anchor {
			return true
		}
	}
	return false
}
