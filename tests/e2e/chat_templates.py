"""Chat templates against jinja2 in the sandbox and with the settings of transformers: templates of models, and random
ones over all that is supported."""
import json
import random
import struct
import subprocess

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

ZEPHYR = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""
LLAMA2 = """{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}
{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}
{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}
{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""
LLAMA3 = """{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>

'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>

' }}{% endif %}"""
LLAMA31 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{#- This block extracts the system message, so we can slot it into the right place. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined %}
    {{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\\n\\n"}}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- if not tools is none %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
    {%- endfor %}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {%- for arg_name, arg_val in tool_call.arguments | items %}
            {{- arg_name + '="' + arg_val + '"' }}
        {%- endfor %}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""
MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}

{#- This block checks for alternating user/assistant messages, skipping tool calling messages #}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}

{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if (message == user_messages[-1]) and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- else %}
        {{- '[TOOL_RESULTS] {"content": ' + message.content|string + ", " }}
    {%- endif %}
{%- endfor %}
"""
THINKS = """{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content %}
    {%- set reasoning = '' %}
    {%- if '</think>' in message.content %}
        {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
        {%- set reasoning = message.content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
    {%- endif %}
    {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning)) %}
        {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + content }}
    {%- endif %}
    {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
"""
LLAMA, TEXTS = {"bos_token": "<s>", "eos_token": "</s>"}, {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}
MODELS = {"zephyr": (ZEPHYR, LLAMA), "llama2": (LLAMA2, LLAMA), "llama3": (LLAMA3, TEXTS), "llama31": (LLAMA31, TEXTS), "mistral": (MISTRAL, LLAMA), "thinks": (THINKS, {})}


def said(*pairs):
    return [{"role": role, "content": content} for role, content in pairs]


CONVERSATIONS = [
    said(("user", "Hi")), said(("system", "Be brief."), ("user", "Hi")), said(("user", "  What is 2+2?\n"), ("assistant", " 4 "), ("user", "and 3+3?")),
    said(("system", " sys \n"), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")), said(("user", "<|im_end|> <s> [/INST] </think>x")), said(("assistant", "x")),
    said(("user", "a"), ("user", "b")), [], said(("user", "")), said(("system", "only")), said(("user", "日本 😀\u3000"), ("assistant", "<think>\nhm\n</think>\n\nok"), ("user", "it's \"q\" \\ \t\x01")),
    said(("tool", "t")), said(("user", "x"), ("assistant", "y"), ("tool", "{}"), ("user", "z"))]


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    made.filters["tojson"] = lambda x, ensure_ascii=False, indent=None: json.dumps(x, ensure_ascii=ensure_ascii, indent=indent)
    made.globals["raise_exception"] = raise_exception
    return made


ENVIRONMENT = environment()


def theirs(template, conversation, answer, texts):
    """The text; None: an error."""
    try:
        return ENVIRONMENT.from_string(template).render(messages=conversation, tools=None, documents=None, add_generation_prompt=answer, **texts)
    except (jinja2.exceptions.TemplateError, TypeError, ValueError, ZeroDivisionError, AttributeError):
        return None


def ours(tool, path, template, cases, texts):
    """Texts and their parts, None where there is an error; None instead of all: the template is refused."""
    path.write_bytes(template.encode())
    raw = b"".join(struct.pack("<II", answer, len(c)) + b"".join(struct.pack("<I", len(t.encode())) + t.encode() for m in c for t in (m["role"], m["content"])) for c, answer in cases)
    done = subprocess.run([tool, path, *(f"{k}={v}" for k, v in texts.items())], input=raw, capture_output=True)
    if done.returncode == 3:
        return None
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    lines = [line.split(" ") for line in done.stdout.decode().splitlines()]
    return [(bytes.fromhex(line[-1]).decode(), line[1:-1]) if line[0] == "ok" else None for line in lines]


def same(tool, path, name, template, texts, conversations):
    cases = [(c, a) for c in conversations for a in (False, True)]
    got, wrong = ours(tool, path, template, cases, texts), 0
    if got is None:
        print(f"FAILED {name}: refused: {template[:300]!r}")
        return False
    for (conversation, answer), result in zip(cases, got, strict=True):
        want = theirs(template, conversation, answer, texts)
        if (result and result[0]) != want and (wrong := wrong + 1) == 1:
            print(f"FAILED {name}: {template[:700]!r}\n  {conversation} {answer}\n  want {want!r}\n  got  {result!r}")
    return wrong == 0


class Maker:
    """A random template: what it computes has a type, so that most of it has a value."""

    def __init__(self, seed):
        self.rng, self.depth = random.Random(seed), 0

    def pick(self, *choices):
        return self.rng.choice(choices)

    def text(self):
        self.depth += 1
        leaf = self.depth > 4 or self.rng.random() < .35
        self.depth -= 1
        if leaf:
            return self.pick("'a b'", "' x\\n'", "bos_token", "'<|x|>'", "m.content", "m['role']", "m.content", "t", "''", "'é日'")
        self.depth += 1
        one, two, number = self.text(), self.text(), self.number()
        self.depth -= 1
        return self.pick(f"({one} + {two})", f"({one} ~ {number})", f"({one} | trim)", f"{one}.strip()" if one[0] != "(" else one, f"({one}).lstrip('x ')", f"({one})[{number}:]", f"({one})[:{number}]", f"({one})[::-1]",
                         f"({one} if {self.truth()} else {two})", f"({one}).replace('a', {two})", f"(({one}).split('a') | join({two}))", f"(({one}).split() | join('-'))", f"(({one}) | default({two}, true))",
                         f"({one} | tojson)", f"(messages | map(attribute='role') | join({one}))", f"(none | default('n') if {self.truth()} else undefined_name | default({one}))", f"(({one}).split('a', 1) | last)", f"({number} | string)", f"(({one}) | first | default('q'))")

    def number(self):
        self.depth += 1
        leaf = self.depth > 4 or self.rng.random() < .5
        if leaf:
            out = self.pick("0", "1", "2", "7", "(-3)", "n", "loop.index0", "loop.length", "(messages | length)")
        else:
            one, two = self.number(), self.number()
            out = self.pick(f"({one} + {two})", f"({one} - {two})", f"({one} * {two})", f"({one} % 3)", f"({one} // 2)", f"({one} % (-4))", f"({self.text()} | length)", f"(-{one})", f"({one} if {self.truth()} else {two})")
        self.depth -= 1
        return out

    def truth(self):
        self.depth += 1
        leaf = self.depth > 4 or self.rng.random() < .4
        if leaf:
            out = self.pick("true", "loop.first", "loop.last", "m.role == 'user'", "add_generation_prompt", "(nothing is defined)", "(m.tool_calls is none)", "'content' in m")
        else:
            one, two = self.truth(), self.truth()
            out = self.pick(f"({one} and {two})", f"({one} or {two})", f"(not {one})", f"({self.number()} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.number()})", f"({self.text()} in {self.text()})",
                            f"({self.text()} {self.pick('==', '!=', '<')} {self.text()})", f"({self.number()} is {self.pick('odd', 'even', 'number', 'string', 'not none', 'divisibleby 3')})", f"({self.text()}).{self.pick('starts', 'ends')}with({self.text()})", f"({one} is not sequence)")
        self.depth -= 1
        return out

    def tag(self, text):
        begin, end = self.pick("", "", "-", "+"), self.pick("", "", "-", "+")
        return "{%" + begin + " " + text + " " + end + "%}"

    def piece(self, depth):
        space = self.pick("", "", "\n", "  ", "\n  ", " \n")
        kind = self.rng.random() if depth < 3 else 0
        if kind < .35:
            return space + "{{" + self.pick("", "-") + " " + self.pick(self.text(), self.text(), self.number(), self.truth()) + " " + self.pick("", "-") + "}}" + self.pick("", "x", "\n")
        if kind < .45:
            return space + "{#" + self.pick("", "-") + " note " + self.pick("", "-") + "#}" + self.pick("", "\n", "y ")
        if kind < .6:
            return space + self.tag(self.pick(f"set t = {self.text()}", f"set n = {self.number()}", f"set s.x = {self.text()}", f"set s.n = {self.number()}")) + self.pick("", "\n")
        if kind < .8:
            return space + self.tag(f"if {self.truth()}") + self.body(depth) + self.pick("", self.tag(f"elif {self.truth()}") + self.body(depth)) + self.pick("", self.tag("else") + self.body(depth)) + self.tag("endif")
        if kind < .85:
            return space + self.tag("set t") + self.body(depth) + self.tag("endset")
        head = self.pick("for m in messages", "for m in messages[1:]", "for m in messages[::-1]", f"for m in messages if {self.truth()}".replace("loop.", "s."), "for k in range(3)", "for k, v in m.items()", f"for c in ({self.text()})[:5]")
        inner = self.body(depth) + self.pick("", "", self.tag(f"if {self.truth()}") + self.tag(self.pick("break", "continue")) + self.tag("endif") + self.body(depth))
        return space + self.tag(head) + inner + self.pick("", self.tag("else") + self.body(depth).replace("loop.", "s.")) + self.tag("endfor")

    def body(self, depth):
        return "".join(self.piece(depth + 1) for _ in range(self.rng.randint(0, 3))) + self.pick("", "\n", " z ", "{{ s.x }}", "{{ t }}|{{ n }}")

    def template(self):
        head = "{% set s = namespace(x='', n=0, index0=2, length=3, first=true, last=false) %}{% set t = 'T' %}{% set n = 2 %}\n"
        return head + "{% for m in messages %}" + self.body(0) + self.body(0) + "{% endfor %}" + self.pick("", "\n", "\n\n")


def check(tool, work, smollm2):
    models = dict(MODELS, smollm2=(smollm2, {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"}))
    ok = all([same(tool, work / "t.jinja", name, template, texts, CONVERSATIONS) for name, (template, texts) in models.items()])
    wrong, some = 0, [CONVERSATIONS[i] for i in (3, 10, 12)]
    for seed in range(150):
        wrong += wrong < 5 and not same(tool, work / "t.jinja", f"random {seed}", Maker(seed).template(), LLAMA, some)
    print(f"RESULT templates.random.differ {wrong} of 150")
    return ok and wrong == 0
