package rdf

// YearBC returns the BC year of a date with the year 0 or a negative one. Wikibase numbers years as in XSD 1.1, in
// which the year 0 is 1 BC, but only if a date is known to the year; the year of a less precise date is the BC year
// itself (Wikibase, repo/includes/Rdf/DateTimeValueCleaner). Without the precision, a date is taken for such a date if
// it is the first day of a year that is divisible by 100, or older than 10,000 years.
func YearBC(year, month, day int) int {
	if year < 0 && month <= 1 && day <= 1 && (year%100 == 0 || year < -10_000) {
		return -year
	}
	return 1 - year
}
