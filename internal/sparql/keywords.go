package sparql

import "strings"

// keyword identifies a keyword of the language, including functions and aggregates. kwNone represents any other word.
type keyword uint8

const (
	kwNone keyword = iota
	kwSelect
	kwAsk
	kwConstruct
	kwDescribe
	kwBase
	kwPrefix
	kwDistinct
	kwReduced
	kwAs
	kwWhere
	kwFrom
	kwNamed
	kwGroup
	kwBy
	kwHaving
	kwOrder
	kwAsc
	kwDesc
	kwLimit
	kwOffset
	kwValues
	kwUndef
	kwOptional
	kwUnion
	kwMinus
	kwFilter
	kwBind
	kwGraph
	kwService
	kwSilent
	kwExists
	kwNot
	kwIn
	kwWith
	kwInclude
	kwTrue
	kwFalse
	kwA
	kwInsert
	kwDelete
	kwLoad
	kwClear
	kwDrop
	kwCreate
	kwAdd
	kwMove
	kwCopy
	kwSeparator
	kwLet
	kwBindings
	kwCount // first of the aggregates
	kwSum
	kwMin
	kwMax
	kwAvg
	kwSample
	kwGroupConcat
	kwStr // first of the functions
	kwLang
	kwLangmatches
	kwDatatype
	kwBound
	kwIri
	kwUri
	kwBnode
	kwRand
	kwAbs
	kwCeil
	kwFloor
	kwRound
	kwConcat
	kwStrlen
	kwUcase
	kwLcase
	kwEncodeForUri
	kwContains
	kwStrstarts
	kwStrends
	kwStrbefore
	kwStrafter
	kwYear
	kwMonth
	kwDay
	kwHours
	kwMinutes
	kwSeconds
	kwTimezone
	kwTz
	kwNow
	kwUuid
	kwStruuid
	kwMd5
	kwSha1
	kwSha256
	kwSha384
	kwSha512
	kwCoalesce
	kwIf
	kwStrlang
	kwStrdt
	kwSameterm
	kwIsiri
	kwIsuri
	kwIsblank
	kwIsliteral
	kwIsnumeric
	kwRegex
	kwSubstr
	kwReplace
	keywordCount
)

// spelling lists the keywords in upper case, in the same order as the constants.
var spelling = append([]string{""}, strings.Fields(`
	SELECT ASK CONSTRUCT DESCRIBE BASE PREFIX DISTINCT REDUCED AS WHERE FROM NAMED GROUP BY HAVING ORDER ASC DESC
	LIMIT OFFSET VALUES UNDEF OPTIONAL UNION MINUS FILTER BIND GRAPH SERVICE SILENT EXISTS NOT IN WITH INCLUDE TRUE
	FALSE A INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY SEPARATOR LET BINDINGS COUNT SUM MIN MAX AVG SAMPLE
	GROUP_CONCAT STR LANG LANGMATCHES DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN UCASE
	LCASE ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE
	TZ NOW UUID STRUUID MD5 SHA1 SHA256 SHA384 SHA512 COALESCE IF STRLANG STRDT SAMETERM ISIRI ISURI ISBLANK
	ISLITERAL ISNUMERIC REGEX SUBSTR REPLACE
`)...)

// arity contains the minimum and maximum number of arguments for each function (SPARQL 1.1, rule 121); -1 means no
// limit.
var arity = [keywordCount][2]int8{
	kwStr:          {1, 1},
	kwLang:         {1, 1},
	kwLangmatches:  {2, 2},
	kwDatatype:     {1, 1},
	kwBound:        {1, 1},
	kwIri:          {1, 1},
	kwUri:          {1, 1},
	kwBnode:        {0, 1},
	kwRand:         {0, 0},
	kwAbs:          {1, 1},
	kwCeil:         {1, 1},
	kwFloor:        {1, 1},
	kwRound:        {1, 1},
	kwConcat:       {0, -1},
	kwStrlen:       {1, 1},
	kwUcase:        {1, 1},
	kwLcase:        {1, 1},
	kwEncodeForUri: {1, 1},
	kwContains:     {2, 2},
	kwStrstarts:    {2, 2},
	kwStrends:      {2, 2},
	kwStrbefore:    {2, 2},
	kwStrafter:     {2, 2},
	kwYear:         {1, 1},
	kwMonth:        {1, 1},
	kwDay:          {1, 1},
	kwHours:        {1, 1},
	kwMinutes:      {1, 1},
	kwSeconds:      {1, 1},
	kwTimezone:     {1, 1},
	kwTz:           {1, 1},
	kwNow:          {0, 0},
	kwUuid:         {0, 0},
	kwStruuid:      {0, 0},
	kwMd5:          {1, 1},
	kwSha1:         {1, 1},
	kwSha256:       {1, 1},
	kwSha384:       {1, 1},
	kwSha512:       {1, 1},
	kwCoalesce:     {0, -1},
	kwIf:           {3, 3},
	kwStrlang:      {2, 2},
	kwStrdt:        {2, 2},
	kwSameterm:     {2, 2},
	kwIsiri:        {1, 1},
	kwIsuri:        {1, 1},
	kwIsblank:      {1, 1},
	kwIsliteral:    {1, 1},
	kwIsnumeric:    {1, 1},
	kwRegex:        {2, 3},
	kwSubstr:       {2, 3},
	kwReplace:      {3, 4},
}

var keywords = func() map[string]keyword {
	m := map[string]keyword{}
	for i, word := range spelling[1:] {
		m[word] = keyword(i + 1)
	}
	return m
}()

// lookup returns the keyword spelled w, ignoring the case of ASCII letters.
func lookup(w string) keyword {
	var upper [16]byte
	if len(w) > len(upper) {
		return kwNone
	}
	for i := range len(w) {
		upper[i] = w[i]
		if w[i] >= 'a' && w[i] <= 'z' {
			upper[i] -= 'a' - 'A'
		}
	}
	return keywords[string(upper[:len(w)])]
}

func (k keyword) aggregate() bool { return k >= kwCount && k <= kwGroupConcat }

func (k keyword) function() bool { return k >= kwStr }

// glued returns the length of the keyword at the start of w if it is written without a space before another keyword or
// a number, as in SELECTDISTINCT or LIMIT10, which Blazegraph splits. Otherwise, it returns 0.
func glued(w string) int {
	if len(w) > 40 {
		return 0
	}
	for n := min(len(w)-1, len("encode_for_uri")); n >= 2; n-- {
		rest := strings.TrimLeft(w[n:], "0123456789")
		if lookup(w[:n]) != kwNone && (rest == "" || len(rest) > 1 && lookup(rest) != kwNone || glued(rest) > 0) {
			return n
		}
	}
	return 0
}
