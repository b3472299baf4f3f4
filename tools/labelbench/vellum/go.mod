module github.com/spinachbot/spinachbot/tools/labelbench/vellum

go 1.26.0

require (
	github.com/blevesearch/vellum v1.1.0
	github.com/spinachbot/spinachbot v0.0.0
)

require (
	github.com/bits-and-blooms/bitset v1.2.0 // indirect
	github.com/blevesearch/mmap-go v1.0.4 // indirect
	github.com/edsrzf/mmap-go v1.2.0 // indirect
	github.com/kljensen/snowball v0.10.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/spinachbot/spinachbot => ../../..
