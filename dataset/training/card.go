package training

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/release"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/text"
)

// forumLicense is the ID of [dataset.License].
const forumLicense = "cc-by-sa-4.0"

// licenses are the license IDs that a card can contain: SPDX IDs in lower case. On the card, any other license has the
// ID "other" and its own name.
var licenses = []string{"apache-2.0", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", forumLicense, "cc0-1.0", "mit",
	"odbl", "odc-by", "pddl"}

// ownLicense is the prefix that SPDX defines for licenses that have no SPDX ID.
const ownLicense = "licenseref-"

// License parses the name of a license: an SPDX ID, ignoring case, or LicenseRef-NAME for your own license.
func License(name string) (string, error) {
	id := strings.ToLower(strings.TrimSpace(name))
	if slices.Contains(licenses, id) || strings.HasPrefix(id, ownLicense) && len(id) > len(ownLicense) &&
		strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" {
		return id, nil
	}
	return "", fmt.Errorf("%q is not a known license: use %s, or LicenseRef-NAME for your own license", text.OneLine(name),
		strings.Join(licenses, ", "))
}

// CheckLicense returns an error if lines from discussions, which are under the forum's license, would be published
// under a different license.
func (x *Export) CheckLicense(license string) error {
	for _, l := range x.Lines {
		if l.From == "forum" && license != forumLicense {
			return fmt.Errorf("lines made from discussions are under %s, and so is a data set with them: use --license %s, or export the harvest separately",
				dataset.License, forumLicense)
		}
	}
	return nil
}

// Description is the content of a card, except for the statistics about the lines.
type Description struct {
	Name    string
	As      string
	File    string // file that contains the lines
	Made    time.Time
	License string
	Not     []string // names of the files with test items
	Items   int      // number of items in those files
	MinF1   float64
	Measure string
	Command string
}

var what = map[string]string{
	transcript.AsOpenAI:     "conversations with tool calls, for fine-tuning over OpenAI's protocol",
	transcript.AsSFT:        "dialogues with a mark of the turns whose loss counts",
	transcript.AsPreference: "pairs of turns after the same prompt, of which one is better",
}

// Card writes the data set's card in Markdown.
func (x *Export) Card(d *Description) []byte {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	license := "license: " + d.License
	if strings.HasPrefix(d.License, ownLicense) {
		license = "license: other\nlicense_name: " + strings.TrimPrefix(d.License, ownLicense)
	}
	p("---\n%s\ntask_categories: [text-generation, question-answering]\ntags: [SPARQL, knowledge graph, agent]\nconfigs:\n- config_name: %s\n  data_files: %s\n---\n",
		license, d.As, d.File)
	p("# %s\n", release.Escape(cmp.Or(d.Name, "Training data")))
	p("%s of training data: %s. Made %s.\n", text.Count(len(x.Lines), "line"), what[d.As],
		d.Made.UTC().Format("2 January 2006"))
	p("## Counts\n")
	x.table(p, "source", func(l *Line) string { return l.From })
	x.table(p, "preset", func(l *Line) string { return l.Preset })
	x.table(p, "model", func(l *Line) string { return l.Model })
	p("Each line says in `%s` where it is from: the file of the run or the discussion, the license, and for runs preset, model, time, and whether there was an answer.\n",
		map[bool]string{true: "metadata", false: "source"}[d.As == transcript.AsOpenAI])
	if d.MinF1 > 0 {
		p("Only runs whose answer has an F1 of %g or more against the gold result are here, by the measure %s. Of %s the way to another answer of the search is shown than the one that was chosen, since it is better by gold.\n",
			d.MinF1, d.Measure, text.Count(x.OtherBranch, "line"))
	}
	x.leftOut(p, d)
	p("## License and attribution\n")
	p("%s.\n", d.License)
	var links []string
	for _, l := range x.Lines {
		if l.Link != "" && !slices.Contains(links, l.Link) {
			links = append(links, l.Link)
		}
	}
	if len(links) > 0 {
		p("Lines whose source is `forum` are made from these discussions, whose authors published them under %s; each line names them.\n",
			dataset.License)
		for _, l := range links {
			p("- <%s>", release.Link(l))
		}
		p("")
	}
	p("## Use\n\n```python\nfrom datasets import load_dataset\n\nlines = load_dataset(\"json\", data_files=\"%s\", split=\"train\")\n```", d.File)
	if d.Command != "" {
		p("\nMade with `%s`.", d.Command)
	}
	return []byte(b.String())
}

// table writes a table of the number of lines for each value of one field.
func (x *Export) table(p func(string, ...any), name string, of func(*Line) string) {
	counts := map[string]int{}
	for i := range x.Lines {
		if k := of(&x.Lines[i]); k != "" {
			counts[k]++
		}
	}
	if len(counts) == 0 {
		return
	}
	p("| %s | lines |\n| --- | ---: |", name)
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		p("| %s | %d |", release.Escape(k), counts[k])
	}
	p("")
}

// leftOut lists what the data set leaves out, and why.
func (x *Export) leftOut(p func(string, ...any), d *Description) {
	p("## What was left out\n")
	if len(x.Out) == 0 {
		p("Nothing.\n")
	} else {
		p("| why | runs, lines or discussions |\n| --- | ---: |")
		for _, why := range x.Reasons() {
			p("| %s | %d |", why, x.Out[why])
		}
		p("")
	}
	if len(x.Unread) > 0 {
		p("%s could not be read.\n", text.Count(len(x.Unread), "file"))
	}
	if len(d.Not) == 0 {
		p("The lines were not compared with any test items: whoever tests a model that was trained on them should do that first (`--not FILE`).\n")
		return
	}
	var names []string
	for _, n := range d.Not {
		names = append(names, release.Escape(n))
	}
	p("The lines were compared with %s of %s; %d that were near to one were held back. Near is: the same ID, the same question, nearly or in other words, the same query or a similar one among all that were run, or a solved question in the prompt that is so.\n",
		text.Count(d.Items, "test item"), strings.Join(names, ", "), x.Held())
}
