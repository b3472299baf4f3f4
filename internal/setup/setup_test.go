package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/forum"
)

func about() About {
	return About{Account: "SpinachBot", Operator: "Ada L", Forum: "Wikidata:Request a query", StopPage: "User:SpinachBot/run",
		Model: "gpt-x}} [[evil]]", Server: "models.example", Endpoint: "query.wikidata.org", Posting: "propose", PerHour: 6,
		FollowUps: 5, Contact: "ada@example.org", Version: "1.2.3"}
}

func TestDrafts(t *testing.T) {
	drafts, err := Drafts(about())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, d := range drafts {
		all[d.Title] = d.Text
		if strings.Contains(d.Text, "[[evil") || strings.Contains(d.Text, "<no value>") {
			t.Errorf("%s:\n%s", d.Title, d.Text)
		}
	}
	user := all["User:SpinachBot"]
	// the information required by the rules on machine-generated text: the fact that it is machine-generated, the model,
	// who is responsible, and how to stop it
	for _, want := range []string{"{{bot|Ada L}}", "I am a program", "language model (gpt-x", "models.example",
		"[[User:Ada L|Ada L]]", "My operator reads each reply before", "[[User:SpinachBot/run]]", "{{nobots}}",
		"[[User:SpinachBot/opt-out]]", "ada@example.org", "at most 6 replies an hour"} {
		if !strings.Contains(user, want) {
			t.Errorf("the user page lacks %s:\n%s", want, user)
		}
	}
	if all["User:SpinachBot/run"] != "run" { // only this exact text, or an empty page, allows the bot to write
		t.Errorf("the stop page is %q", all["User:SpinachBot/run"])
	}
	request := all["Wikidata:Requests for permissions/Bot/SpinachBot"]
	if !strings.Contains(request, "approves each reply before") || !strings.HasSuffix(request, "~~~~\n") {
		t.Errorf("the request:\n%s", request)
	}
	for _, d := range drafts {
		if strings.Contains(d.Text, "..") {
			t.Errorf("%s has two full stops:\n%s", d.Title, d.Text)
		}
	}
	for _, text := range []string{user, request} {
		if !strings.Contains(text, "[[User talk:SpinachBot") {
			t.Errorf("the talk page, where people can stop the bot, is missing:\n%s", text)
		}
	}
	// The request page mentions the account, which is how people call the bot, but the bot must not answer there.
	if !forum.Denied(forum.Head(request), "SpinachBot") || forum.Denied(user, "SpinachBot") {
		t.Errorf("the bot may answer on the request, or not on its user page:\n%s\n%s", request, user)
	}
	a := about()
	a.Posting = "on"
	if drafts, err = Drafts(a); err != nil || !strings.Contains(drafts[0].Text, "without a person reading them first") {
		t.Errorf("with posting on: %v %s", err, drafts[0].Text)
	}
	// the approval request describes only what the bot does with these settings
	for want, change := range map[string]func(){"below a confidence": func() { a.Confident = true },
		"is corrected once": func() { a.Corrects = true }, "[[User:SpinachBot/digest]]": func() { a.DigestPage = "User:SpinachBot/digest" },
		"below [[User:SpinachBot/traces]]": func() { a.TracePage = "User:SpinachBot/traces" }} {
		before, _ := Drafts(a)
		change()
		after, err := Drafts(a)
		if err != nil || strings.Contains(before[1].Text, want) || !strings.Contains(after[1].Text, want) {
			t.Errorf("%s: %v\n%s", want, err, after[1].Text)
		}
	}
	if drafts, _ = Drafts(a); len(drafts) != 6 || !strings.Contains(drafts[5].Text, "{{Special:PrefixIndex/User:SpinachBot/traces/}}") {
		t.Errorf("%d drafts: %+v", len(drafts), drafts[len(drafts)-1])
	}
	if forum.Denied(drafts[5].Text, "SpinachBot") {
		t.Error("the page that explains how to keep the bot away keeps it away")
	}
	a.Operator = ""
	if _, err := Drafts(a); err == nil || !strings.Contains(err.Error(), "OPERATOR") {
		t.Errorf("without an operator: %v", err)
	}
}

func TestWriteKeepsWhatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	drafts, err := Drafts(about())
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, drafts); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "user-page.wikitext")
	if err := os.WriteFile(name, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, drafts); err == nil || !strings.Contains(err.Error(), "user-page.wikitext") {
		t.Errorf("writing again: %v", err)
	}
	if b, _ := os.ReadFile(name); string(b) != "mine" {
		t.Error("what was there is gone")
	}
}
