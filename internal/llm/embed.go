package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	openai "github.com/sashabaranov/go-openai"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Embedder turns text into vectors with an embedding model on a [Client]'s server, using the same URL, key, time limit
// and retries. Its calls are charged to the client's [Budget] and to the [Allowance] in ctx, like calls to the language
// model. They are charged at the language model's price for input tokens, which is more than embeddings cost. It is
// safe for concurrent use.
type Embedder struct {
	c     *Client
	model string
}

// Embedder returns the embedder for a model (the OPENAI_EMBEDDING_MODEL setting).
func (c *Client) Embedder(model string) *Embedder { return &Embedder{c: c, model: model} }

// Model returns the model's name.
func (e *Embedder) Model() string { return e.model }

// Embed returns a vector for each text; all vectors have the same length. The errors are [ErrNoModel] if no server is
// configured, [ErrBudget], [ErrContextLength], *[Error], or the error of ctx.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c := e.c
	if c.cfg.BaseURL == "" {
		return nil, ErrNoModel
	}
	if len(texts) == 0 {
		return nil, nil
	}
	worst := Usage{Calls: 1}
	for _, t := range texts {
		worst.InputTokens += len(t) + 1
	}
	for attempt := 1; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.rest(ctx, e.model); err != nil {
			return nil, err
		}
		resv, err := c.book(ctx, worst, e.model)
		if err != nil {
			return nil, err
		}
		vectors, spent, result, callErr := e.attempt(ctx, texts)
		if _, err := resv.settle(ctx, &Response{Usage: spent}, callErr, result); err != nil {
			return nil, err
		}
		if callErr == nil {
			return vectors, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		wait, again := c.cfg.Retry.Next(attempt, result, c.clock.Now(), c.rnd())
		c.limited(ctx, e.model, result, wait, callErr)
		if !again || !healable(callErr) {
			return nil, callErr
		}
		c.lg.WarnContext(ctx, "embedding failed", "model", e.model, "attempt", attempt, "err", callErr, "retry_in", wait)
		if err := c.clock.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// attempt sends the texts once.
func (e *Embedder) attempt(ctx context.Context, texts []string) ([][]float32, Usage, politehttp.Result, error) {
	c := e.c
	actx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	x := &exchange{hc: c.hc}
	oc := openai.DefaultConfig(c.cfg.APIKey.Reveal())
	oc.BaseURL, oc.HTTPClient = c.cfg.BaseURL, x
	raw, err := openai.NewClientWithConfig(oc).CreateEmbeddings(actx, openai.EmbeddingRequestStrings{
		Input: texts, Model: openai.EmbeddingModel(e.model), EncodingFormat: openai.EmbeddingEncodingFormatFloat})
	if err != nil && actx.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %s (OPENAI_TIMEOUT)", c.cfg.Timeout)
	}
	vectors, err := e.read(x, raw, err, len(texts))
	if err != nil {
		return nil, Usage{}, x.result(err), err
	}
	return vectors, Usage{Calls: 1, InputTokens: raw.Usage.PromptTokens}, politehttp.Result{Status: http.StatusOK}, nil
}

// read returns the vectors in a response, in the order of the texts.
func (e *Embedder) read(x *exchange, raw openai.EmbeddingResponse, err error, n int) ([][]float32, error) {
	c := e.c
	code, msg := "", ""
	if x.status >= 400 || err == nil && len(raw.Data) == 0 {
		code, msg = serviceError(c.shown(x))
	}
	switch {
	case x.status >= 300 && x.status < 400:
		return nil, &Error{Status: x.status, Message: "the server redirects to another address: correct OPENAI_BASE_URL"}
	case x.status >= 400:
		err := c.serviceFailure(x.status, code, msg, nil)
		var se *Error
		if errors.As(err, &se) && x.status == http.StatusNotFound {
			se.Message += " (does the server have embeddings, and the model of OPENAI_EMBEDDING_MODEL?)"
		}
		return nil, err
	case err != nil:
		return nil, c.brokenAnswer(x, err)
	case code != "" || msg != "":
		return nil, c.serviceFailure(statusInBody(code), code, msg, nil)
	case len(raw.Data) != n:
		return nil, &Error{Status: x.status, Message: fmt.Sprintf("the answer contains %d vectors for %d texts", len(raw.Data),
			n), Transient: true}
	}
	out := make([][]float32, n)
	for _, d := range raw.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil || len(d.Embedding) == 0 ||
			len(d.Embedding) != len(raw.Data[0].Embedding) {
			return nil, &Error{Status: x.status, Message: "the vectors of the answer are not numbered, or differ in length"}
		}
		out[d.Index] = d.Embedding
	}
	return out, nil
}
