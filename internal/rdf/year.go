package rdf

// YearBC returns the BC year of a date whose year is 0 or negative. Wikibase numbers years as in XSD 1.1, in which the
// year 0 is 1 BC, but only if a date is known to the year; the year of a less precise date is the BC year itself
// (Wikibase, repo/includes/Rdf/DateTimeValueCleaner). YearBC does not know the precision: it assumes that a date is
// less precise if it is the first day of a year that is divisible by 100 or earlier than -10,000.
func YearBC(year, month, day int) int {
	if year < 0 && month <= 1 && day <= 1 && (year%100 == 0 || year < -10_000) {
		return -year
	}
	return 1 - year
}
