"""Real wordings of "too long", and what only looks like it. Statuses as the providers send them."""

import pytest

from abridged.overflow import overflow_of


class Failure(Exception):
    def __init__(self, status: int | None, text: str) -> None:
        super().__init__(text)
        self.status_code = status


# provider, status, text, window (None = it names none)
TOO_LONG = [
    ("openai", 400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens. Please reduce the length of the messages.", 128_000),
    ("openai tools", 400, "This model's maximum context length is 8192 tokens. However, you requested 9013 tokens (8500 in the messages, 513 in the completion). Please reduce the length of the messages or completion.", 8_192),
    ("openai responses", 400, "Your input exceeds the context window of this model. Please adjust your input and try again.", None),
    ("openai code", 400, "{'error': {'message': 'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 301234 tokens.', 'code': 'context_length_exceeded'}}", 272_000),
    ("azure", 400, "This model's maximum context length is 16385 tokens, however you requested 17000 tokens (16000 in your prompt; 1000 for the completion). Please reduce your prompt; or completion length.", 16_385),
    ("anthropic", 400, "prompt is too long: 208310 tokens > 199999 maximum", 199_999),
    ("anthropic with output", 400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again", 200_000),
    ("anthropic 413", 413, "Prompt is too long", None),
    ("gemini", 400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    ("gemini old", 400, "The input token count exceeds the maximum number of tokens allowed 1048576.", 1_048_576),
    ("vertex", 400, "Request contains an invalid argument: The input token count is 33000 but model only supports up to 32768.", 32_768),
    ("mistral", 400, "Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32_768),
    ("groq", 400, "Please reduce the length of the messages or completion. context_length_exceeded", None),
    ("groq 413", 413, "Request too large for model: maximum context length is 131072", 131_072),
    ("together", 422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`: input length exceeds the context", 8_193),
    ("together 400", 400, "The input (140000 tokens) is longer than the model's context length (131072 tokens).", 131_072),
    ("openrouter", 400, "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.", 131_072),
    ("llama.cpp", 400, "request (9021 tokens) exceeds the available context size (8192 tokens), try increasing it", 8_192),
    ("llama.cpp 500", 500, "context size has been exceeded", None),
    ("llama.cpp older", 500, "the request exceeds the available context size. try increasing the context size or enable context shift", None),
    ("vllm", 400, "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens in the messages, Please reduce the length of the messages.", 32_768),
    ("vllm new", 400, "The decoder prompt (length 40960) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.", 32_768),
    ("sglang", 400, "The input (70000 tokens) is longer than the model's context length (65536 tokens)", 65_536),
    ("tgi", 422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000: input is too long", 4_096),
    ("ollama", 400, "the input length exceeds the context length", None),
    ("ollama prompt", 400, "prompt is too long: exceeds maximum context length", None),
    ("lm studio", 400, "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input: context overflow", 8_192),
    ("lm studio policy", 400, "Reached context length of 4096 tokens with model, but this model does not currently support mid-generation context overflow", 4_096),
    ("bedrock", 400, "Input is too long for requested model.", None),
    ("bedrock converse", 400, "The model returned the following errors: input length and max_tokens exceed context limit: 198000 + 8192 > 200000", 200_000),
    ("bedrock nova", 400, "Malformed input request: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.", None),
    ("minimax", 400, "invalid params, context window exceeds limit (2013)", None),
    ("qwen", 400, "Range of input length should be [1, 129024]: input length exceeds the limit", 129_024),
    ("dashscope", 400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]. The input is too long", 30_720),
    ("deepseek", 400, "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion).", 65_536),
    ("moonshot", 400, "Invalid request: Your request exceeded model token limit: 131072", 131_072),
    ("zhipu", 400, "输入内容过长，超过模型最大上下文限制 128000", 128_000),
    ("xai", 400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072),
    ("cohere", 400, "too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 140000. Try using a shorter prompt", 128_000),
    ("fireworks", 400, "The prompt is too long: 140000, model maximum context length: 131071", 131_071),
    ("cerebras", 400, "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", 8_192),
    ("perplexity", 400, "Requested input length 140000 exceeds maximum input length 127072", 127_072),
    ("ai21", 422, "prompt is too long: the number of tokens exceeds the maximum context 256k", 256_000),
    ("github models", 413, "Request body too large for gpt-4o-mini model. Max size: 8000 tokens.", 8_000),
    ("copilot", 400, "prompt token count of 130000 exceeds the limit of 128000", 128_000),
    ("huggingface", 400, "Input length 5000 exceeds maximum allowed token size of 4096: input is too long", 4_096),
    ("gateway 503", 503, "upstream error: maximum context length is 32768 tokens, however you requested 33000", 32_768),
    ("litellm", 400, "litellm.ContextWindowExceededError: prompt is too long: 210000 tokens > 200000 maximum", 200_000),
    ("no status", None, "Error code: 400 - maximum context length is 4096 tokens", 4_096),
    ("nginx", 413, "<html><head><title>413 Request Entity Too Large</title></head></html>", None),
    ("anthropic bytes", 413, "request_too_large: Request exceeds the maximum allowed number of bytes", None),
]  # fmt: skip

SOMETHING_ELSE = [
    ("openai tpm", 429, "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully."),
    ("openai rpm", 429, "Rate limit reached for requests"),
    ("openai quota", 429, "You exceeded your current quota, please check your plan and billing details."),
    ("anthropic tpm", 429, "This request would exceed your organization's rate limit of 80,000 input tokens per minute."),
    ("anthropic long context", 429, "Extra usage is required for long context requests."),
    ("wait", 429, "Too many tokens, please wait before trying again."),
    ("bedrock wait", 400, "ThrottlingException: Too many tokens, please wait before trying again."),
    ("anthropic output", 400, "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku"),
    ("openai output", 400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000."),
    ("output limit", 400, "Invalid value for 'max_completion_tokens': must be less than 32768"),
    ("groq output", 400, "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model"[:60]),
    ("thinking", 400, "`max_tokens` must be greater than `thinking.budget_tokens`."),
    ("temperature", 400, "Unsupported value: 'temperature' does not support 0.2 with this model."),
    ("bad parameter", 400, "Unrecognized request argument supplied: foo"),
    ("tool name", 400, "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead."),
    ("tool id", 400, "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40."),
    ("too many tools", 400, "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead."),
    ("stop", 400, "Invalid 'stop': array too long. Expected an array with maximum length 4."),
    ("tool pair", 400, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."),
    ("content filter", 400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."),
    ("safety", 400, "Your request was rejected as a result of our safety system; the prompt is too long a list of banned words"),
    ("memory", 500, "CUDA out of memory. Tried to allocate 2.00 GiB: context size 8192"),
    ("memory guard", 500, "memory guard: prompt requires 12 GB, reduce the context"),
    ("key", 401, "Incorrect API key provided"),
    ("model", 404, "The model `gpt-9` does not exist: maximum context length unknown"),
    ("billing", 402, "Insufficient credits: this request requires more tokens than you can afford"),
    ("image", 400, "messages.1.content.0.image: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"),
    ("image size", 400, "At least one of the image dimensions exceed max allowed size: 8000 pixels: images too large"),
    ("overloaded", 529, "Overloaded"),
    ("server", 500, "The server had an error while processing your request."),
    ("gateway", 502, "Bad gateway"),
    ("timeout", 504, "upstream request timeout"),
    ("json", 400, "We could not parse the JSON body of your request."),
    ("capacity", 503, "Model is at capacity, too many concurrent requests; input queue exceeds limit"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "status", "text", "window"), TOO_LONG, ids=[row[0] for row in TOO_LONG])
def test_too_long_in_every_wording(name: str, status: int | None, text: str, window: int | None):
    # spec: T6
    found = overflow_of(Failure(status, text))
    assert found is not None
    assert found.window == window
    if status is not None:
        assert overflow_of({"status": status, "error": {"message": text}}) == found


@pytest.mark.parametrize(("name", "status", "text"), SOMETHING_ELSE, ids=[row[0] for row in SOMETHING_ELSE])
def test_what_only_looks_like_it(name: str, status: int, text: str):
    # spec: T6
    assert overflow_of(Failure(status, text)) is None


def test_there_are_enough_of_both():
    assert len(TOO_LONG) >= 40
    assert len(SOMETHING_ELSE) >= 25


@pytest.mark.parametrize("odd", [None, 7, b"x", [], {}, object(), KeyError(), Failure(400, "")])
def test_anything_may_be_asked(odd: object):
    assert overflow_of(odd) is None
