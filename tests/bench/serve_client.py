"""A client of servers that speak OpenAI's API, for benchmarks: many streams at a time, timed token by token."""
import asyncio
import json
import socket
import statistics
import time
from typing import NamedTuple


class Answer(NamedTuple):
    status: int
    begin: float  # when the request was sent, seconds of the monotonic clock
    times: list  # when each piece of text came
    tokens: int  # as the server counts them
    cached: int  # of the prompt's, not computed
    text: str

    @property
    def first(self):
        return self.times[0] - self.begin

    @property
    def gaps(self):
        return [b - a for a, b in zip(self.times, self.times[1:])]


async def head_of(reader):
    """-> status, headers in lower case"""
    status = int((await reader.readline()).split()[1])
    headers = {}
    while (line := (await reader.readline()).strip()) != b"":
        name, _, value = line.partition(b":")
        headers[name.lower().decode()] = value.strip().decode()
    return status, headers


async def body_parts(reader, headers):
    if "chunked" in headers.get("transfer-encoding", ""):
        while size := int(await reader.readline(), 16):
            yield await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        yield await reader.readexactly(int(headers.get("content-length", 0)))


def request_of(path, fields, *headers):
    body = json.dumps(fields).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "\r\n"]).encode() + body


async def post(port, path, fields):
    """-> status, body"""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request_of(path, fields))
    try:
        status, headers = await head_of(reader)
        return status, b"".join([part async for part in body_parts(reader, headers)])
    finally:
        writer.close()


def completion(prompt, tokens, **more):
    """What asks for `tokens` tokens after a list of ids, streamed"""
    return {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "stream": True,
            "ignore_eos": True, "stream_options": {"include_usage": True}, **more}  # fmt: skip


async def status_of(port, request):
    """Sends a request that closes its connection and waits for the answer's end; costs less of the machine than `complete`,
    which is what counts when a server has to refuse hundreds a second on the same CPUs. -> status, 0 if it ended early"""
    loop = asyncio.get_running_loop()
    answer = b""
    with socket.socket() as s:
        s.setblocking(False)
        await loop.sock_connect(s, ("127.0.0.1", port))
        await loop.sock_sendall(s, request)
        while part := await loop.sock_recv(s, 1 << 16):
            answer += part
    status = int(answer.split(None, 2)[1])
    return status if status != 200 or b"data: [DONE]" in answer else 0


async def complete(port, prompt, tokens, **more):
    """An answer of `tokens` tokens to a list of ids, streamed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = request_of("/v1/completions", completion(prompt, tokens, **more))
    begin = time.monotonic()
    writer.write(request)
    times, text, usage, rest = [], [], {}, b""
    try:
        status, headers = await head_of(reader)
        async for part in body_parts(reader, headers):
            now = time.monotonic()
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                if not line.startswith(b"data: {"):
                    continue
                event = json.loads(line[6:])
                usage = event.get("usage") or usage
                for choice in event.get("choices", []):
                    if choice.get("text") and choice.get("finish_reason") is None:
                        times.append(now)
                        text.append(choice["text"])
    finally:
        writer.close()
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return Answer(status, begin, times, usage.get("completion_tokens", 0), cached, "".join(text))


async def closed_loop(port, clients, seconds, prompts, tokens, **more):
    """Each client asks again as soon as it was answered, until `seconds` are over. -> answers, tokens per second while all
    do: after the first fifth, when answers no longer begin at once, and before the end, when they become fewer"""
    answers = []
    begin = time.monotonic()

    async def client(i):
        turn = 0
        while time.monotonic() - begin < seconds:
            answers.append(await complete(port, prompts(i, turn), tokens, **more))
            turn += 1

    await asyncio.gather(*(client(i) for i in range(clients)))
    first, last = begin + seconds / 5, begin + seconds
    shares = (a.tokens * sum(first <= t < last for t in a.times) / len(a.times) for a in answers if a.times)
    return answers, sum(shares) / (last - first)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def times_of(answers):
    """-> a line: time to the first token, between tokens, per token; milliseconds"""
    good = [a for a in answers if a.status == 200 and a.times]
    gaps = [g for a in good for g in a.gaps]
    each = [(a.times[-1] - a.times[0]) / max(1, a.tokens - 1) for a in good]
    rows = {"TTFT": [a.first for a in good], "ITL": gaps, "TPOT": each}
    texts = [name + " " + "/".join(f"{percentile(v, p) * 1e3:.1f}" for p in (0.5, 0.95, 0.99)) for name, v in rows.items()]
    return ", ".join(texts) + " ms (50/95/99 %)"


def median(values):
    return statistics.median(values) if values else float("nan")
