package harvest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
)

func sampleFunnel() dataset.Funnel {
	f := dataset.Funnel{Schema: 1, Pages: dataset.PageCount{Listed: 96, Read: 95, Gone: 1}, Total: dataset.Counts{
		Discussions: 3412, WithQuery: 2780, Valid: 2654, Run: 2401, Staged: 2171, Gone: 4, Pending: 3,
		Rejected: map[dataset.Reason]int{dataset.NoQuery: 610, dataset.BotOnly: 8, dataset.BadShortLink: 14,
			dataset.SyntaxError: 98, dataset.Update: 2, dataset.RefusedHost: 26,
			dataset.Timeout: 215, dataset.Failed: 35, dataset.TooLarge: 31, dataset.Empty: 150, dataset.Scholarly: 49},
	}}
	for i, n := range []int{130, 420, 510, 560, 530, 410, 360, 300, 192} {
		f.Years = append(f.Years, dataset.Counts{Year: 2016 + i, Discussions: n, WithQuery: n * 81 / 100,
			Staged: n * 63 / 100})
	}
	return f
}

// The picture is well-formed, shows the numbers, and can be drawn even for an empty funnel.
func TestPicture(t *testing.T) {
	for _, f := range []dataset.Funnel{sampleFunnel(), {},
		{Total: dataset.Counts{Discussions: 1}, Years: []dataset.Counts{{Year: 2020, Discussions: 1}}}} {
		var b bytes.Buffer
		if err := Picture(&b, f); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, b.String())
			}
		}
		for _, want := range []string{"2780 (81.5%)",
			"− 632: no query 610, only our bot posted a query 8, short link leads to no query 14", ">2019</text>",
			"3 discussions are not finished; 4 are gone from their pages", ">280</text>",
			"− 126: update 2, syntax error 98, service not allowed 26<",
			"− 253: timeout 215, endpoint gave up 35, not finished 3<", "95 archive pages, 2016 to 2024"} {
			if f.Total.Staged > 0 && !strings.Contains(b.String(), want) {
				t.Errorf("%q is not in the picture", want)
			}
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Error("a figure is NaN or infinite")
		}
		if name := os.Getenv("FUNNEL_SVG"); name != "" && f.Total.Staged > 0 {
			_ = os.WriteFile(name, b.Bytes(), 0o644)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, sampleFunnel()); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"year discussions with query may be run answered staged pending gone 2016 130 105",
		"all 3412 2780 2654 2401 2171 3 4", "rejected no query 610 only our bot", "scholarly half of the graph 49"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}
