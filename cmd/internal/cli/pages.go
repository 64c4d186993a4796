package cli

import (
	"strconv"
	"strings"
)

// A Page is what the help says of a command or a topic, see [Program.Pages].
type Page struct {
	Name     string       `json:"name"`
	Short    string       `json:"short"` // one line, no capital, no full stop
	Items    []Item       `json:"items,omitempty"`
	Long     string       `json:"long,omitempty"`
	Topic    bool         `json:"-"` // it does not belong to a command
	Examples []Example    `json:"-"`
	Exits    []ExitStatus `json:"-"` // statuses beyond 0, 1 and 2, or with another meaning
	Errors   []string     `json:"-"` // codes worth knowing
}

// An Item is a name and its meaning.
type Item struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// An Example is a command line and what it is for.
type Example struct {
	Line string `json:"line"`           // with the program's name
	What string `json:"what,omitempty"` // may be empty
}

// An ExitStatus is one that a command uses beyond the common ones.
type ExitStatus struct {
	Status  int    `json:"status"`
	Meaning string `json:"meaning"`
}

// Page returns the page of a command or a topic, an empty one if there is none.
func (p *Program) Page(name string) Page {
	for _, page := range p.pages() {
		if page.Name == name {
			return page
		}
	}
	return Page{}
}

// Topics returns the pages that do not belong to a command.
func (p *Program) Topics() (topics []Page) {
	for _, page := range p.pages() {
		if page.Topic {
			topics = append(topics, page)
		}
	}
	return topics
}

const ownPages = "\n\n# help: explain a command or a topic\n\n# version: print the version and the commit it was built from"

// pages returns all pages. They are read once, and only for the help and what is made of it.
func (p *Program) pages() []Page {
	p.read.Do(func() {
		for paragraph := range strings.SplitSeq(strings.Join(p.Pages, "\n\n")+ownPages, "\n\n") {
			if paragraph = strings.Trim(paragraph, "\n"); strings.HasPrefix(paragraph, "#") {
				name, short, _ := strings.Cut(strings.TrimLeft(paragraph, "# "), ": ")
				p.known = append(p.known, Page{Name: name, Short: short, Topic: strings.HasPrefix(paragraph, "##")})
			} else if paragraph != "" {
				p.known[len(p.known)-1].add(paragraph)
			}
		}
	})
	return p.known
}

// add adds a paragraph. Lines of a text are put together, but not those of one that is indented.
func (page *Page) add(paragraph string) {
	whole := strings.ReplaceAll(paragraph, "\n  ", " ")
	switch {
	case strings.HasPrefix(paragraph, "$ "):
		for example := range strings.SplitSeq(paragraph[2:], "\n$ ") {
			line, what, _ := strings.Cut(example, "\n  ")
			page.Examples = append(page.Examples, Example{line, strings.ReplaceAll(what, "\n  ", " ")})
		}
	case strings.HasPrefix(paragraph, "- "):
		for item := range strings.SplitSeq(whole[2:], "\n- ") {
			name, what, _ := strings.Cut(item, ": ")
			page.Items = append(page.Items, Item{name, what})
		}
	case strings.HasPrefix(paragraph, "Exit "):
		for exit := range strings.SplitSeq(whole[len("Exit "):], "\nExit ") {
			number, meaning, _ := strings.Cut(exit, ": ")
			status, _ := strconv.Atoi(number)
			page.Exits = append(page.Exits, ExitStatus{status, meaning})
		}
	case strings.HasPrefix(paragraph, "Errors: "):
		page.Errors = strings.Split(whole[len("Errors: "):], ", ")
	default:
		if !strings.HasPrefix(paragraph, " ") {
			paragraph = strings.ReplaceAll(paragraph, "\n", " ")
		}
		page.Long = strings.TrimPrefix(page.Long+"\n\n"+paragraph, "\n\n")
	}
}
