package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Labelled returns "label (Q42)", or just the ID if there is no label.
func Labelled(id, label string) string {
	if label == "" || label == id {
		return id
	}
	return Fold(label) + " (" + id + ")"
}

// noLabel follows the ID of an entity that has no label in the requested languages. It makes clear that the label was
// not omitted by mistake.
const noLabel = " (no label)"

// Value formats a statement's value for the model: an entity as its label and ID, a date according to its precision, a
// quantity with its unit, a string in a language as text@en, and anything else unchanged.
func Value(v kg.Value) string {
	switch {
	case v.Unknown:
		return "unknown value"
	case v.None:
		return "no value"
	}
	t := v.Term
	if id := rdf.EntityID(t.Value); t.IsIRI() && id != "" {
		return Labelled(id, v.Label)
	}
	if v.ID != "" {
		return Labelled(v.ID, v.Label)
	}
	switch {
	case t.Lang != "":
		return Fold(t.Value) + "@" + t.Lang
	case t.Datatype == rdf.XSDDateTime || t.Datatype == rdf.XSDDate:
		return dateText(t.Value, v.Precision)
	case t.Datatype == rdf.XSDDecimal || t.Datatype == rdf.XSDInteger || t.Datatype == rdf.XSDDouble:
		n := strings.TrimPrefix(t.Value, "+")
		if v.Unit != "" && v.Unit != "1" {
			return n + " " + Labelled(v.Unit, v.UnitLabel)
		}
		return n
	}
	return Clip(Fold(t.Value), 300)
}

var months = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September",
	"October", "November", "December"}

// Wikibase's time precisions (see "time" on the Wikibase DataModel's JSON page).
const (
	precisionCentury = 7
	precisionDecade  = 8
	precisionYear    = 9
	precisionMonth   = 10
)

// dateText formats an xsd:dateTime according to its Wikibase precision. A precision of 0 means that the precision is
// unknown; the full date is then returned. If a date is known at least to the year, BCE years follow XSD 1.1, in which
// year 0 is 1 BCE. Text that is not a date is returned unchanged.
func dateText(lexical string, precision int) string {
	date, _, _ := strings.Cut(lexical, "T")
	negative := strings.HasPrefix(date, "-")
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(date, "-"), "+"), "-")
	if len(parts) != 3 {
		return lexical
	}
	year, err1 := strconv.Atoi(parts[0])
	month, err2 := strconv.Atoi(parts[1])
	day, err3 := strconv.Atoi(strings.TrimSuffix(parts[2], "Z"))
	if err1 != nil || err2 != nil || err3 != nil || month < 0 || month > 12 {
		return lexical
	}
	era := ""
	if negative || year == 0 {
		bc := rdf.YearBC(-year, month, day)
		if precision >= precisionYear {
			bc = year + 1
		} else if precision > 0 {
			bc = max(year, 1)
		}
		year, era = bc, " BCE"
	}
	y := strconv.Itoa(year) + era
	switch {
	case precision > 0 && precision < precisionCentury:
		return "about " + y
	case precision == precisionCentury:
		return fmt.Sprintf("%d. century%s", (year+99)/100, era)
	case precision == precisionDecade:
		return strconv.Itoa(year/10*10) + "s" + era
	case precision == precisionYear || month == 0:
		return y
	case precision == precisionMonth || day == 0:
		return months[month-1] + " " + y
	}
	return fmt.Sprintf("%d %s %s", day, months[month-1], y)
}
