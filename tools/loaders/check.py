"""Loads exports of `trace export` as a trainer would: check.py FOLDER

FOLDER contains openai*.jsonl, sft*.jsonl and preference*.jsonl. Each is loaded with datasets and passed through TRL's
chat template functions with a tokenizer that is built here. Its assistant mask is compared with what the line marks as
to be learned. If anything is missing or different, the exit status is 1. Neither torch nor a model is needed.
"""
import pathlib
import sys
import tempfile

from datasets import load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from trl import data_utils

# {% generation %} marks what the model wrote; nothing else is to be learned.
TEMPLATE = """{%- if tools %}{{ '<|tools|>' + tools | tojson + '<|end|>' }}{% endif -%}
{%- for m in messages -%}
{{ '<|' + m.role + '|>' }}
{%- if m.role == 'assistant' -%}
{% generation %}{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}{{ '<|call|>' + c.function.name + ' ' + (c.function.arguments if c.function.arguments is string else c.function.arguments | tojson) }}{% endfor -%}
{{ '<|end|>' }}{% endgeneration %}
{%- else -%}
{{ (m.content or '') + '<|end|>' }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif -%}"""

MARKS = ["<|tools|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|call|>", "<|end|>"]


def tokenizer():
    """A tokenizer of bytes, which distinguishes every text from every other one."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    t = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    out = PreTrainedTokenizerFast(tokenizer_object=t, eos_token="<|end|>", additional_special_tokens=MARKS)
    out.chat_template = TEMPLATE
    return out


TOKENIZER = tokenizer()


def must(ok, *why):
    if not ok:
        sys.exit("loaders: " + " ".join(str(w) for w in why))


def said(m):
    """What the template writes for a turn of the model."""
    calls = "".join("<|call|>" + c["function"]["name"] + " " + c["function"]["arguments"] for c in m.get("tool_calls") or [])
    return (m.get("content") or "") + calls + "<|end|>"


def masked(messages, tools=None):
    """The texts of a conversation whose loss counts according to the assistant mask."""
    out = TOKENIZER.apply_chat_template(messages, tools=tools, return_dict=True, return_assistant_tokens_mask=True)
    ids, mask = out["input_ids"], out["assistant_masks"]
    must(len(ids) == len(mask), "the mask and the text differ in length")
    texts, run = [], []
    for token, counts in zip(ids + [None], mask + [0]):
        if counts:
            run.append(token)
        elif run:
            texts.append(TOKENIZER.decode(run))
            run = []
    return texts


def check_openai(line):
    messages, tools = line["messages"], line.get("tools")
    must(data_utils.is_conversational({"messages": messages}), "not conversational")
    must(masked(messages, tools) == [said(m) for m in messages if m["role"] == "assistant"], "the mask is not the model's turns")
    text = data_utils.apply_chat_template({"messages": messages}, TOKENIZER, tools=tools)["text"]
    for m in messages:
        must((m.get("content") or "") in text, "a message is not in the text:", m)
    calls = [c["id"] for m in messages for c in m.get("tool_calls") or []]
    for m in messages:
        must(m["role"] != "tool" or m["tool_call_id"] in calls, "a result without its call:", m)
    return len(messages)


def check_sft(line):
    # for a model that works with text, observations are messages of the user
    roles = {"observation": "user"}
    messages = [{"role": roles.get(t["role"], t["role"]), "content": t["text"]} for t in line["dialogue"]]
    must(data_utils.is_conversational({"messages": messages}), "not conversational")
    must(masked(messages) == [t["text"] + "<|end|>" for t in line["dialogue"] if t["learn"]], "the mask is not what is to be learned")
    data_utils.apply_chat_template({"messages": messages}, TOKENIZER)
    return len(messages)


def check_preference(line):
    pair = {k: line[k] for k in ("prompt", "chosen", "rejected")}
    must(data_utils.is_conversational(pair), "not conversational")
    text = data_utils.apply_chat_template(pair, TOKENIZER, tools=line.get("tools"))
    must(text["prompt"].endswith("<|assistant|>"), "the prompt does not end where the turn begins")
    for k in ("chosen", "rejected"):
        must(text[k] == said(line[k][0]), k, "differs from the turn:", text[k])
    must(text["chosen"] != text["rejected"], "both turns are the same")
    unpaired = data_utils.unpair_preference_dataset(ONE.from_list([pair]))
    must(unpaired["label"] == [True, False], "unpaired lines have other labels")
    return len(line["prompt"]) + 2


CHECKS = {"openai": check_openai, "sft": check_sft, "preference": check_preference}


def main():
    global ONE
    from datasets import Dataset as ONE
    from datasets import disable_progress_bars
    disable_progress_bars()
    folder = pathlib.Path(sys.argv[1])
    seen = set()
    with tempfile.TemporaryDirectory() as cache:
        for path in sorted(folder.glob("*.jsonl")):
            kind = path.name.split("-")[0].split(".")[0]
            must(kind in CHECKS, path, "has no known form")
            lines = load_dataset("json", data_files=str(path), split="train", cache_dir=cache)
            must(len(lines) == sum(1 for _ in path.open()) > 0, path, "has no lines, or not all were loaded")
            turns = sum(CHECKS[kind](line) for line in lines)
            seen.add(kind)
            print(f"{path.name}: {len(lines)} lines, {turns} turns")
    must(seen == set(CHECKS), "there is no export of", set(CHECKS) - seen)


main()
