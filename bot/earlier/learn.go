package earlier

import (
	"errors"
	"fmt"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/lesson"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Learn proposes lessons from corrections on the forum. Each correction yields a solved question, a benchmark candidate
// and, if the two queries use different properties, a note about the graph kg. labels maps items and properties to
// their labels; api is the address of the wiki's API, for links. Learn returns the IDs of the lessons that are new or
// changed. Comments in queries are removed, because strangers wrote them. A correction whose query cannot be parsed is
// skipped and named in the error.
func Learn(book *lesson.Book, corrections []bot.Correction, kg, api string,
	labels map[string]string) (ids []string, err error) {
	for _, c := range corrections {
		q, perr := sparql.Parse(c.Theirs)
		if perr != nil {
			err = errors.Join(err, fmt.Errorf("the query that corrected %s cannot be parsed: %w", c.Entry.Key, perr))
			continue
		}
		query := sparql.Print(q, sparql.PrintOptions{NoComments: true})
		from := &lesson.Thread{Entry: c.Entry.Key, Page: c.Entry.Page, Heading: text.OneLine(c.Entry.Heading),
			Link: c.Entry.Link(api), Revision: c.Revision, Author: c.Author, Date: c.Date, License: dataset.License}
		source := "the forum: " + from.Heading
		title := "Solved on the forum: “" + text.Clip(from.Heading, 100) + "”"
		lessons := []lesson.Note{
			{Kind: lesson.Example, Text: title, Question: c.Question, SPARQL: query},
			{Kind: lesson.Candidate, Text: title, Question: c.Question, SPARQL: query},
		}
		if note := lesson.PropertyNote(c.Ours, c.Theirs, labels); note != "" {
			lessons = append(lessons, lesson.Note{Text: note})
		}
		for _, n := range lessons {
			n.KG, n.Source, n.From = kg, source, from
			id, changed, lerr := book.Correct(n)
			if lerr != nil {
				err = errors.Join(err, fmt.Errorf("the correction of %s: %w", c.Entry.Key, lerr))
			} else if changed {
				ids = append(ids, id)
			}
		}
	}
	return ids, err
}
