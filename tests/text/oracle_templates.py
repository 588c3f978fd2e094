"""Chat templates in the manner of known models, and small ones for single features, compared with jinja2."""

import datetime
import json

import jinja2
import jinja2.ext
import jinja2.sandbox

CHATML = """{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""

LLAMA2 = """{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate user/assistant/user/...') }}{% endif %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""

LLAMA3 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = strftime_now("%d %b %Y") %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none and tools is defined %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{{- "Cutting Knowledge Date: December 2023\\nToday Date: " + date_string + "\\n\\n" }}
{%- if tools %}
    {{- 'Given the following functions, respond with JSON {"name": function name, "parameters": dictionary}.\\n\\n' }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<|eot_id|>" }}
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
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, conversation roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}
                    {{- ", " }}
                {%- else %}
                    {{- "]" }}
                {%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
            {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not loop.last %}{{- "}, " }}{%- else %}{{- "}]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {{- '[TOOL_RESULTS] {"content": ' + message.content|string + "}[/TOOL_RESULTS]" }}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported") }}
    {%- endif %}
{%- endfor %}
"""

QWEN3 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- "# Tools\\n\\nYou may call one or more functions.\\n\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

GEMMA = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
"""

PHI3 = """{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{% generation %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endgeneration %}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}"""

GPT_OSS = """{#-
  In addition to the normal inputs of `messages` and `tools`, this template also accepts variables.
 #}
{%- macro render_type(param_spec, required_params, is_nullable=false) -%}
    {%- if param_spec.type == "array" -%}
        {%- if param_spec['items'] -%}
            {%- if param_spec['items']['type'] == "string" -%}
                {{- "string[]" }}
            {%- elif param_spec['items']['type'] in ("number", "integer") -%}
                {{- "number[]" }}
            {%- else -%}
                {%- set inner_type = render_type(param_spec['items'], required_params) -%}
                {%- if inner_type == "object | object" or inner_type|length > 50 -%}
                    {{- "any[]" }}
                {%- else -%}
                    {{- inner_type + "[]" }}
                {%- endif -%}
            {%- endif -%}
            {%- if param_spec.nullable -%}
                {{- " | null" }}
            {%- endif -%}
        {%- else -%}
            {{- "any[]" }}
        {%- endif -%}
    {%- elif param_spec.type is defined and param_spec.type is iterable and param_spec.type is not string and param_spec.type is not mapping and param_spec.type[0] is defined -%}
        {{- param_spec.type | join(" | ") }}
    {%- elif param_spec.type == "string" -%}
        {%- if param_spec.enum -%}
            {{- '"' + param_spec.enum|join('" | "') + '"' -}}
        {%- else -%}
            {{- "string" }}
        {%- endif -%}
    {%- elif param_spec.type == "object" -%}
        {%- if param_spec.properties -%}
            {{- "{\\n" }}
            {%- for prop_name, prop_spec in param_spec.properties.items() -%}
                {{- prop_name -}}
                {%- if prop_name not in (param_spec.required or []) -%}
                    {{- "?" }}
                {%- endif -%}
                {{- ": " }}
                {{ render_type(prop_spec, param_spec.required or []) }}
                {%- if not loop.last -%}
                    {{-", " }}
                {%- endif -%}
            {%- endfor -%}
            {{- "}" }}
        {%- else -%}
            {{- "object" }}
        {%- endif -%}
    {%- else -%}
        {{- param_spec.type or "any" }}
    {%- endif -%}
{%- endmacro -%}

{%- macro render_tools(namespace_name, tools) -%}
    {{- "## " + namespace_name + "\\n\\n" }}
    {{- "namespace " + namespace_name + " {\\n\\n" }}
    {%- for tool in tools %}
        {%- set tool = tool.function %}
        {{- "// " + tool.description + "\\n" }}
        {{- "type "+ tool.name + " = " }}
        {%- if tool.parameters and tool.parameters.properties %}
            {{- "(_: {\\n" }}
            {%- for param_name, param_spec in tool.parameters.properties.items() %}
                {%- if param_spec.description %}
                    {{- "// " + param_spec.description + "\\n" }}
                {%- endif %}
                {{- param_name }}
                {%- if param_name not in (tool.parameters.required or []) -%}
                    {{- "?" }}
                {%- endif -%}
                {{- ": " }}
                {{- render_type(param_spec, tool.parameters.required or []) }}
                {%- if param_spec.default is defined -%}
                    {%- if param_spec.enum %}
                        {{- ", // default: " + param_spec.default }}
                    {%- elif param_spec.oneOf %}
                        {{- "// default: " + param_spec.default }}
                    {%- else %}
                        {{- ", // default: " + param_spec.default|tojson }}
                    {%- endif -%}
                {%- endif -%}
                {%- if not loop.last %}
                    {{- ",\\n" }}
                {%- else %}
                    {{- "\\n" }}
                {%- endif -%}
            {%- endfor %}
            {{- "}) => any;\\n\\n" }}
        {%- else -%}
            {{- "() => any;\\n\\n" }}
        {%- endif -%}
    {%- endfor %}
    {{- "} // namespace " + namespace_name }}
{%- endmacro -%}
{{- "<|start|>system<|message|>Current date: " + strftime_now("%Y-%m-%d") + "\\n\\n" }}
{%- if reasoning_effort is not defined %}{%- set reasoning_effort = "medium" %}{%- endif %}
{{- "Reasoning: " + reasoning_effort + "<|end|>" }}
{%- if tools -%}
    {{- "<|start|>developer<|message|># Tools\\n\\n" }}{{- render_tools("functions", tools) }}{{- "<|end|>" }}
{%- endif -%}
{%- set last_tool_call = namespace(name=none) %}
{%- for message in messages -%}
    {%- if message.role == 'assistant' -%}
        {%- if "tool_calls" in message %}
            {%- set tool_call = message.tool_calls[0] %}
            {%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- "<|start|>assistant to=functions." ~ tool_call.name ~ "<|channel|>commentary json<|message|>" }}
            {{- tool_call.arguments|tojson }}{{- "<|call|>" }}
            {%- set last_tool_call.name = tool_call.name %}
        {%- elif loop.last and not add_generation_prompt %}
            {{- "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|return|>" }}
        {%- else %}
            {{- "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|end|>" }}
            {%- set last_tool_call.name = none %}
        {%- endif %}
    {%- elif message.role == 'tool' -%}
        {%- if last_tool_call.name is none %}
            {{- raise_exception("Message has tool role, but there was no previous assistant message with a tool call!") }}
        {%- endif %}
        {{- "<|start|>functions." + last_tool_call.name }}
        {{- " to=assistant<|channel|>commentary<|message|>" + message.content|tojson + "<|end|>" }}
    {%- elif message.role == 'user' -%}
        {{- "<|start|>user<|message|>" + message.content + "<|end|>" }}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|start|>assistant
{%- endif -%}"""

DEEPSEEK = """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% set ns = namespace(is_first=false, is_tool=false, is_output_first=true, system_prompt='', is_first_sp=true) %}{%- for message in messages %}{%- if message['role'] == 'system' %}{%- if ns.is_first_sp %}{% set ns.system_prompt = ns.system_prompt + message['content'] %}{% set ns.is_first_sp = false %}{%- else %}{% set ns.system_prompt = ns.system_prompt + '\n\n' + message['content'] %}{%- endif %}{%- endif %}{%- endfor %}{{ bos_token }}{{ ns.system_prompt }}{%- for message in messages %}{% set content = message['content'] %}{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{'<｜User｜>' + content}}{%- endif %}{%- if message['role'] == 'assistant' %}{% if content is not none and '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}{% endif %}{%- if message['role'] == 'assistant' and message['tool_calls'] is defined and message['tool_calls'] is not none %}{%- set ns.is_first = false %}{%- for tool in message['tool_calls'] %}{%- if not ns.is_first %}{{'<｜Assistant｜><｜tool▁calls▁begin｜>' + tool['type'] + '<｜tool▁sep｜>' + tool['function']['name'] + '\n```json\n' + tool['function']['arguments']|tojson + '\n```' + '<｜tool▁call▁end｜>'}}{%- set ns.is_first = true -%}{%- else %}{{'\n' + tool['type']}}{%- endif %}{%- endfor %}{{'<｜tool▁calls▁end｜><｜end▁of▁sentence｜>'}}{%- elif message['role'] == 'assistant' %}{{'<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>'}}{%- endif %}{%- endfor -%}{% if add_generation_prompt and not ns.is_tool %}{{'<｜Assistant｜><think>\n'}}{% endif %}"""

MODELS = {"chatml": CHATML, "llama2": LLAMA2, "llama3": LLAMA3, "mistral": MISTRAL, "qwen3": QWEN3, "gemma": GEMMA,
          "phi3": PHI3, "gpt-oss": GPT_OSS, "deepseek": DEEPSEEK}

# Each is rendered with VARIABLES; those that fail in jinja2 must fail here.
SNIPPETS = [
    "{{ 1 + 2 * 3 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 1.5 + 1 }} {{ 1e16 }} {{ 0.1 + 0.2 }}",
    "{{ 'a' ~ 1 ~ none ~ true ~ [1, 'x', none] ~ {'k': 1.0} }}", "{{ 'a' * 3 }} {{ [1] * 2 }} {{ [1] + [2] }}",
    "{{ \"it's\" }} {{ [\"it's\", 'say \"x\"', 'a\\nb', 'é', '\\x01'] }}", "{{ (1, 2) }} {{ (1,) }} {{ {'a': (1, 2)} }}",
    "{{ undefined_name }}|{{ undefined_name is defined }}|{{ undefined_name is undefined }}|{{ undefined_name or 'x' }}",
    "{{ undefined_name.foo }}", "{{ undefined_name + 'x' }}", "{{ undefined_name() }}", "{{ items[99] }}|{{ d.nope }}|{{ d['nope'] }}",
    "{{ items[0] }} {{ items[-1] }} {{ items[1:] }} {{ items[:-1] }} {{ items[::-1] }} {{ items[::2] }} {{ text[1:3] }} {{ text[::-1] }} {{ text[0] }}",
    "{% for x in items %}{{ loop.index }}/{{ loop.index0 }}/{{ loop.revindex }}/{{ loop.first }}/{{ loop.last }}/{{ loop.length }} {% endfor %}",
    "{% for x in [] %}x{% else %}empty{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for x in items if x > 1 %}{{ x }}{{ ',' if not loop.last }}{% endfor %}", "{% for k in d %}{{ k }}{% endfor %}",
    "{% for c in text %}{{ c }}.{% endfor %}", "{% for x in items %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in items %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}", "{% for x in items %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for a in [[1, 2], [3, 4]] %}{% for b in a %}{{ loop.depth }}{{ b }}{% endfor %}{% endfor %}",
    "{% set x = 1 %}{% for i in items %}{% set x = x + 1 %}{{ x }}{% endfor %}{{ x }}",
    "{% set ns = namespace(n=0, s='a') %}{% for i in items %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}{{ ns.s }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set x %}hello {{ text }}{% endset %}[{{ x }}]", "{% set x | upper | trim %} hello {% endset %}[{{ x }}]",
    "{% if true %}{% set y = 5 %}{% endif %}{{ y }}", "{% macro m(a, b=2, c='x') %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, c=3) }} {{ m(b=1, a=0) }}",
    "{% set outer = 'o' %}{% macro m(a) %}{{ outer }}{{ a }}{{ text }}{% endmacro %}{% for x in items %}{{ m(x) }}{% endfor %}",
    "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}", "{{ m() }}{% macro m() %}x{% endmacro %}",
    "{{ text | upper }} {{ text | lower }} {{ text | title }} {{ text | capitalize }} {{ text | length }} {{ text | trim }} {{ '  x ' | trim }} {{ 'xxaxx' | trim('x') }}",
    "{{ 'hello wORLD-foo (bar) [baz]' | title }} {{ 'hello wORLD-foo (bar)'.title() }}", "{{ items | join(', ') }} {{ items | join }} {{ people | join('+', attribute='name') }}",
    "{{ items | first }} {{ items | last }} {{ [] | first }} {{ items | length }} {{ items | sum }} {{ items | max }} {{ items | min }}",
    "{{ people | map(attribute='name') | list }} {{ items | map('string') | join('-') }} {{ people | map(attribute='age', default=0) | list }}",
    "{{ people | selectattr('age') | list | length }} {{ people | selectattr('age', 'gt', 30) | map(attribute='name') | join }} {{ people | rejectattr('name', 'equalto', 'Bob') | list }}",
    "{{ items | select('odd') | list }} {{ items | reject('odd') | list }} {{ items | select('greaterthan', 1) | list }} {{ [0, 1, '', 'a'] | select | list }}",
    "{{ missing | default('d') }} {{ '' | default('d') }} {{ '' | default('d', true) }} {{ none | default('d') }} {{ missing | d }}|",
    "{{ d | tojson }} {{ nested | tojson }} {{ 'é\"\\n\\t<>&' | tojson }} {{ none | tojson }} {{ true | tojson }} {{ 1.0 | tojson }} {{ [] | tojson }} {{ {} | tojson }}",
    "{{ nested | tojson(indent=2) }}", "{{ nested | tojson(indent=0) }}", "{{ nested | tojson(sort_keys=true) }} {{ 'é' | tojson(ensure_ascii=true) }} {{ items | tojson(separators=(',', ':')) }}",
    "{{ 'a-b-c' | replace('-', '+') }} {{ 'aaa' | replace('a', 'b', 2) }} {{ 'a-b'.replace('-', '') }} {{ 'abc'.replace('', '.') }}",
    "{{ '3' | int }} {{ 'x' | int }} {{ 'x' | int(7) }} {{ 3.9 | int }} {{ '3.7' | int }} {{ '2.5' | float }} {{ 3 | string + 'x' }} {{ 3.14159 | round(2) }} {{ -3 | abs }}",
    "{{ 'a\\nb\\n\\nc' | indent(2) }}|{{ 'a\\nb' | indent(2, true) }}|{{ 'a\\n\\nb' | indent(2, blank=true) }}|{{ 'a\\nb\\n' | indent }}",
    "{{ d | items | list }} {{ d.items() | list }} {{ d.keys() | list }} {{ d.values() | list }} {{ d.get('a') }} {{ d.get('zz') }} {{ d.get('zz', 5) }}",
    "{{ [3, 1, 2] | sort }} {{ ['b', 'A', 'c'] | sort }} {{ [3, 1, 2] | sort(reverse=true) }} {{ people | sort(attribute='age') | map(attribute='name') | list }} {{ {'b': 1, 'a': 2} | dictsort }}",
    "{{ [1, 2, 1, 3] | unique | list }} {{ items | reverse | list }} {{ 'abc' | reverse }} {{ 'x' | safe }} {{ '<a>' | e }}",
    "{{ ' a b  c '.split() }} {{ 'a,b,,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a b c'.rsplit(' ', 1) }} {{ 'a\\nb\\r\\nc'.splitlines() }} {{ ' a b c'.split(none, 1) }}",
    "{{ ' x '.strip() }}|{{ ' x '.lstrip() }}|{{ ' x '.rstrip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'abcab'.rstrip('ab') }}|{{ 'abc'.removeprefix('a') }}|{{ 'abc'.removesuffix('c') }}",
    "{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith('bc') }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'éab'.find('b') }} {{ 'abab'.count('ab') }} {{ '12'.isdigit() }} {{ 'aB'.upper() }} {{ 'straße'.upper() }}",
    "{{ ', '.join(['a', 'b']) }} {{ 'x' in 'xyz' }} {{ 'q' not in text }} {{ 1 in items }} {{ 'a' in d }} {{ 5 not in items }} {{ (1, 2) == (1, 2) }} {{ [1] == (1,) }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 2 > 5 }} {{ 'a' < 'b' }} {{ 1 == 1.0 }} {{ true == 1 }} {{ none == none }} {{ 1 != 2 }} {{ not true }} {{ not not 1 }} {{ [1, 2] < [1, 3] }}",
    "{{ 'x' is string }} {{ 1 is number }} {{ true is number }} {{ true is integer }} {{ 1.0 is float }} {{ d is mapping }} {{ items is iterable }} {{ text is iterable }} {{ items is sequence }} {{ d is sequence }} {{ none is none }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ true is boolean }}",
    "{{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 1 is eq 1 }} {{ 1 is equalto(2) }} {{ 'a' is in ['a'] }} {{ 'abc' is lower }} {{ 'ABC' is upper }} {{ 2 is not odd }} {{ 1 is sameas 1 }}",
    "{{ 'yes' if items else 'no' }} {{ 'yes' if false }}| {{ 1 if false else 2 if false else 3 }}", "{{ range(3) | list }} {{ range(1, 7, 2) | list }} {{ range(3, 0, -1) | list }} {% for i in range(2) %}{{ i }}{% endfor %}",
    "{{ dict(a=1, b='x') }} {{ dict(a=1).a }} {{ namespace(a=1).a }}", "{{ strftime_now('%Y-%m-%d %H:%M') }}", "{{ raise_exception('boom') }}",
    "  {% if true %}\n    x\n  {% endif %}\n  y\n", "a\n\n{%- if true -%}\n\n b \n\n{%- endif -%}\n\nc", "{{- 'a' -}}   b   {{- 'c' }}  {{ 'd' -}}\n\n e",
    "a {# comment #} b\n  {# line #}\nc {#- x -#} d", "x {%+ if true %}y{% endif +%}\nz", "{% raw %}{{ not }} {% if %}{% endraw %}!", "a  {%- raw -%}  {{ x }}  {%- endraw -%}  b",
    "line\n{% for x in items %}\n{{ x }}\n{% endfor %}\nend\n\n", "\r\na\r\n{% if true %}\r\nb\r\n{% endif %}\r\nc", "{% if items | length > 2 and text is string or false %}ok{% endif %}",
    "{{ {'a': {'b': [1, {'c': 'deep'}]}}.a.b[1].c }}", "{{ nested.list[0]['x'] }} {{ nested['list'][1].y }} {{ nested.list.0.x }}", "{{ 'a' 'b' \"c\" }}", "{{ '\\u00e9\\x41\\'\\\\' }}", "{{ 1_000 }} {{ 1.5e3 }} {{ 1e-7 }} {{ 100000000000000000.0 }} {{ 123456789.125 }}",
    "{{ -items[0] }} {{ +1 }} {{ - 2 ** 2 }} {{ 2 - -1 }}", "{{ text|upper|lower|length + 1 }}", "{{ items|length - 1 }}", "{{ ('a' if true else 'b') ~ 'c' }}", "{{ d.a is defined and d.a }} {{ d.b is not defined }} {{ d.items is defined }}",
    "{{ none.x is defined }} {{ text.foo is defined }}", "{{ none.x.y }}", "{{ 1 + 'a' }}", "{{ 1 / 0 }}", "{{ 1 // 0 }}", "{{ 'a' < 1 }}", "{{ 3 | join }}", "{% for x in 5 %}{% endfor %}", "{{ text.nope() }}", "{{ items.append(1) }}",
    "{% if %}{% endif %}", "{{ 1 + }}", "{% for x %}{% endfor %}", "{% if true %}", "{{ 'x }}", "{% endfor %}", "{% unknown %}", "{{ x | nofilter }}", "{{ 1 is notest }}", "{{ a b }}", "{# never closed", "{{ (1, 2 }}", "{% set 1 = 2 %}", "{% break %}",
    "{%- set it = [] -%}{%- for m in people -%}{%- set it = it + [m.name] -%}{%- endfor -%}{{ it }}", "{{ people[0].name }}",
    "{% generation %}abc{{ text }}{% endgeneration %}", "{% for group in [[1,2],[3]] %}{% for x in group %}{{ x }}{% if not loop.last %},{% endif %}{% endfor %};{% endfor %}", "{{ people | map(attribute='tags.0') | list }}", "{{ [[1, 2], [3]] | map('length') | list }} {{ ['a', 'B'] | map('upper') | join }} {{ [' a '] | map('trim') | list }}",
    "{{ 'İ'.lower() }} {{ 'ÀÉ' | lower }} {{ 'àé' | upper }} {{ 'ÉCOLE été' | capitalize }}", "{{ text.upper().lower().strip() }}", "{{ (items | list)[0] }} {{ (text ~ 'x')[-1] }}", "{{ 'a%sb' is string }}", "{{ loop is defined }} {% for x in [1] %}{{ loop is defined }}{% endfor %}",
]

VARIABLES = {"text": "Hello wörld", "items": [1, 2, 3], "d": {"a": 1, "b": None, "items2": [1]}, "people": [
    {"name": "Ann", "age": 31, "tags": ["x", "y"]}, {"name": "Bob", "age": 25, "tags": []}, {"name": "Cy", "age": 0, "tags": ["z"]}],
    "nested": {"z": 1, "list": [{"x": "é"}, {"y": None}], "f": 1.5, "t": True, "e": {}, "l": []}}

TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "The weather somewhere", "parameters": {
        "type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "A city"}, "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            "days": {"type": "array", "items": {"type": "integer"}}, "options": {
                "type": "object", "properties": {"wind": {"type": "boolean"}, "hours": {"type": ["number", "null"]}}}}},
    "return": {"type": "object"}}}, {"type": "function", "function": {"name": "now", "description": "The <time> & date", "parameters": {}}}]


def conversations():
    user, answer = {"role": "user", "content": " Hi, what's up? \n"}, {"role": "assistant", "content": "Not much. 你好 😀 "}
    system = {"role": "system", "content": "You are \"terse\"."}
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "id": "1", "function": {
        "name": "get_weather", "arguments": {"city": "Zürich", "n": [1, 2.5, None, True]}}}]}
    result = {"role": "tool", "content": "{\"temp\": 21}", "name": "get_weather"}
    thought = {"role": "assistant", "content": "<think>\nhm\n</think>\n\nYes."}
    parts = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " look "}]}
    return [[user], [system, user], [user, answer, user], [system, user, answer, user], [user, user], [answer], [system],
            [user, call, result], [user, call, result, answer, user], [system, user, thought, user], [user, thought], [parts],
            [system, parts], [user, result], [user, {"role": "assistant", "content": None}], [{"role": "odd", "content": "x"}]]


def environment():
    """As transformers renders chat templates."""
    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            next(parser.stream)
            return parser.parse_statements(["name:endgeneration"], drop_needle=True)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    result = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                          extensions=[Generation, jinja2.ext.loopcontrols])
    result.filters["tojson"] = tojson
    result.globals["raise_exception"] = raise_exception
    result.globals["strftime_now"] = lambda format: datetime.datetime.now(datetime.timezone.utc).strftime(format)
    return result


def cases():
    for source in SNIPPETS:
        yield source, VARIABLES
    for source in MODELS.values():
        for messages in conversations():
            for extra in ({}, {"add_generation_prompt": True}, {"tools": TOOLS, "add_generation_prompt": True},
                          {"enable_thinking": False, "add_generation_prompt": True}):
                yield source, {"messages": messages, "bos_token": "<s>", "eos_token": "</s>", **extra}


def expected(source, variables):
    try:
        return environment().from_string(source).render(**variables)
    except Exception:  # whatever jinja2 or Python raises is a failure
        return None


def compare(lumen, count):
    given = list(cases())
    lines = "".join(json.dumps({"template": source, "variables": variables}) + "\n" for source, variables in given)
    out = lumen.folder / "rendered"
    lumen.run("render", lumen.file("templates", lines), out)
    got = [json.loads(line) for line in out.read_text().splitlines()]
    wanted = [expected(source, variables) for source, variables in given]
    shown = [answer.get("text") for answer in got]
    for (source, _), text, answer in zip(given, wanted, got):
        if text is not None and "error" in answer:
            print(f"  {answer['error']}: {source!r:.120}")
    count.compare("templates", "render", [source for source, _ in given], wanted, shown)
