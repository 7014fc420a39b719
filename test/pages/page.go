// Package pages follows Markdown pages as a reader does: it writes the files that a page
// shows, runs the commands of its console blocks, and compares what they write with what
// the page shows.
//
// A file is a fenced block with title=NAME behind its language. The paragraph above it
// names the file, because Markdown viewers do not show the title. In a block of the language
// console, a line that begins with "$ " is a command, lines below it that begin with "> "
// continue it, and all others are its output.
package pages

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	fence        = "```"
	prompt       = "$ "
	continuation = "> "
)

// Page is a page as its reader takes it.
type Page struct {
	lines []string
	steps []step
}

// step is one thing that the reader does: write a file, or run a command.
type step struct {
	line   int      // where it stands in the page, from 1
	file   string   // the name of the file; empty for a command
	text   string   // the content of the file, or the command
	output []string // what the page shows below the command
}

// Parse reads a page. It rejects what the test would not run: a command in a block of another
// language, a file without a name in the text, a job of a workflow that runs other commands
// than the page.
func Parse(text string) (Page, error) {
	p := Page{lines: strings.Split(text, "\n")}
	for at := 0; at < len(p.lines); at++ {
		info, opens := strings.CutPrefix(p.lines[at], fence)
		if !opens {
			continue
		}
		end := at + 1
		for end < len(p.lines) && p.lines[end] != fence {
			end++
		}
		if end == len(p.lines) {
			return Page{}, fmt.Errorf("line %d: the block is not closed", at+1)
		}
		if err := p.block(info, at, end); err != nil {
			return Page{}, err
		}
		at = end
	}
	return p, p.checkWorkflows()
}

// block adds the steps of the block between two fences.
func (p *Page) block(info string, begin, end int) error {
	language, title, titled := strings.Cut(info, " title=")
	inside := p.lines[begin+1 : end]
	switch {
	case titled:
		if !filepath.IsLocal(title) {
			return fmt.Errorf("line %d: %q names no file below the directory of the reader", begin+1, title)
		}
		if !strings.Contains(p.paragraphAbove(begin), "`"+title+"`") {
			return fmt.Errorf("line %d: the paragraph above does not name the file %s", begin+1, title)
		}
		p.steps = append(p.steps, step{line: begin + 1, file: title, text: strings.Join(inside, "\n") + "\n"})
	case language == "console":
		return p.console(begin+1, inside)
	default:
		for i, line := range inside {
			if strings.HasPrefix(line, prompt) {
				return fmt.Errorf("line %d: a command in a block of language %q, which is not run; put commands into blocks of language console", begin+2+i, language)
			}
		}
	}
	return nil
}

func (p *Page) paragraphAbove(line int) string {
	end := line
	for end > 0 && p.lines[end-1] == "" {
		end--
	}
	begin := end
	for begin > 0 && p.lines[begin-1] != "" {
		begin--
	}
	return strings.Join(p.lines[begin:end], "\n")
}

// console adds the commands of a block, of which first is the index of the first line.
func (p *Page) console(first int, lines []string) error {
	begin := len(p.steps)
	for i, line := range lines {
		if command, ok := strings.CutPrefix(line, prompt); ok {
			p.steps = append(p.steps, step{line: first + i + 1, text: command})
			continue
		}
		if len(p.steps) == begin {
			return fmt.Errorf("line %d: output without a command above it", first+i+1)
		}
		last := &p.steps[len(p.steps)-1]
		if more, ok := strings.CutPrefix(line, continuation); ok && len(last.output) == 0 {
			last.text += "\n" + more
			continue
		}
		last.output = append(last.output, line)
	}
	return nil
}

// checkWorkflows refuses a job of a GitHub workflow that runs what the page does not run.
func (p *Page) checkWorkflows() error {
	commands := map[string]bool{}
	for _, s := range p.steps {
		if s.file == "" {
			commands[s.text] = true
		}
	}
	for _, s := range p.steps {
		if !strings.HasPrefix(s.file, ".github/workflows/") {
			continue
		}
		for _, run := range regexp.MustCompile(`(?m)^[ -]*run: *(.*)$`).FindAllStringSubmatch(s.text, -1) {
			if !commands[run[1]] {
				return fmt.Errorf("line %d: the workflow %s runs %q, which is no command of the page", s.line, s.file, run[1])
			}
		}
	}
	return nil
}
