package mcp

import (
	"context"
	"fmt"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// exampleURI is the URI of an example as a resource.
func exampleURI(id string) string { return "example:///" + url.PathEscape(id) }

// addExamples adds each example as a resource, and a prompt that explains how to find a query.
func (s *server) addExamples(m *sdk.Server) {
	for _, x := range s.Examples {
		uri, text := exampleURI(x.ID), "# "+x.Question+"\n\n"+x.SPARQL+"\n"
		m.AddResource(&sdk.Resource{URI: uri, Name: x.ID, Title: x.Question, MIMEType: "text/plain",
			Description: "A question with a query that answers it"},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "text/plain",
					Text: text}}}, nil
			})
	}
	m.AddPrompt(&sdk.Prompt{Name: "write_query", Title: "Write a query",
		Description: "How to find the SPARQL query for a question",
		Arguments:   []*sdk.PromptArgument{{Name: "question", Description: "the question", Required: true}}},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user",
				Content: &sdk.TextContent{Text: fmt.Sprintf(method, req.Params.Arguments["question"])}}}}, nil
		})
}

// method describes how an expert finds a query. %s is the question.
const method = `Find the SPARQL query that answers this question:

%s

1. Decide what one row of the answer is, and which columns the question asks for.
2. Search all names and relations of the question in one call. Choose by the descriptions. Use no ID that a tool has not shown.
3. Look at one entity that must be in the answer: which properties lead to what is asked, with which ranks and qualifiers?
   class_shape says what most members of a class have.
4. Write the query in small pieces and run each. An item may belong to a subclass: wdt:P31/wdt:P279* finds these, too.
5. Look at the result. Are known members missing? Are there too many rows, or the same one twice? Does a LIMIT, a language filter or a
   required label cut rows? Drop one condition at a time to see which one does it.
6. Answer with the last query that you ran, and say what was assumed. If nothing in the graph answers the question, say so.`
