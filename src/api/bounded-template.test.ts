import { describe, expect, test } from "vitest";
import { BoundedTemplate } from "./bounded-template.ts";

const messages = [{ role: "user", content: "Hi" }];
const render = (source: string, more: object = {}) => new BoundedTemplate(source).render({ messages, ...more });

describe("a template", () => {
  test.each([
    ["{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}", "user: Hi"],
    ["{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(4, 0, -2) %}{{ i }}{% endfor %}", "01242"],
    ["{{ true }} {{ None is none }} {{ False }}", "True True False"],
    ["{{ strftime_now('%Y') }}", String(new Date().getFullYear())],
    ["{{ 'a-b'.replace('-', '+') }}{{ 'a-b' | replace('-', '') }}{{ 'a\nb' | indent(2) }}", "a+baba\n  b"],
    ["{% set s = {'a': 1} %}{% if s['items'] is defined and s['items'] is mapping %}x{% endif %}{{ s.get('a') }}", "1"],
    ["{{ [1, 2] | join(', ') }} {{ {'a': 1} | tojson(indent=2) }}", '1, 2 {\n  "a": 1\n}'],
    ["{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}{{ twice('a') }}", "aa"],
  ])("%s gives %s", (source, text) => {
    expect(render(source)).toBe(text);
  });

  /** As jinja2 3.1.6 in Python has them. */
  test.each([
    // Texts
    ["[{{ '  x'.lstrip('\n') }}{{ 'xyx'.strip('x') }}{{ '//a/'.rstrip('/') }}]", "[  xy//a]"],
    ["{{ '\ufeffx' | trim }}{{ '\x85 x\x1c'.strip() }}{{ '--a-' | trim('-') }}", "\ufeffxxa"],
    ["{{ '\ud83e\udda5a\ud83e\udda5'.strip('\ud83e\udda5') }}", "a"],
    [
      "{{ 'HELLO' | capitalize }} {{ \"it's on-line\" | title }} {{ 'hELLO'.capitalize() }}",
      "Hello It's On-Line Hello",
    ],
    ["{{ 'a\ud83d\ude00b' | length }}{{ 'abc' | first }}{{ 'abc' | reverse }}{{ 'ab' | list }}", "3acba['a', 'b']"],
    ["{{ 'a,b'.find(',') }}{{ 'a\nb\n'.splitlines() }}{{ 'aXbX'.count('X') }}{{ '12'.isdigit() }}", "1['a', 'b']2True"],
    ["{{ ', '.join(['a', 'b']) }}{{ [1, none, true] | join('-') }}", "a, b1-None-True"],
    ["{{ 'a' ~ none ~ true ~ 1.0 ~ ['x'] ~ u }}", "aNoneTrue1.0['x']"],
    // Values as text
    ["{{ none }} {{ true }} {{ 1.0 }} {{ [] }} {{ {} }}", "None True 1.0 [] {}"],
    [
      "{{ ['a', \"it's\", 'q\"\\'', 1, false, none, {'k': ['\n\xad']}] }}",
      `['a', "it's", 'q"\\'', 1, False, None, {'k': ['\\n\\xad']}]`,
    ],
    ["{{ true | string }}{{ {'a': 1} | string }}{{ none | upper }}{{ (1, 'a') }}", "True{'a': 1}NONE(1, 'a')"],
    // What is not there
    [
      "[{% for x in u %}x{% else %}-{% endfor %}{{ u | string }}{{ u | upper }}{{ u | trim }}{{ u | join }}{{ u | replace('a', 'b') }}]",
      "[-]",
    ],
    [
      "{{ u | list }}{{ u | length }}{{ u | default('d') }}{{ u is iterable }}{{ '' | default('e', true) }}{{ u | d('f') }}",
      "[]0dTrueef",
    ],
    [
      "{{ [{'a': 1}, {}] | selectattr('a', 'undefined') | list | length }}{{ [{'a': 1}, {}] | rejectattr('a') | list }}",
      "1[{}]",
    ],
    ["{{ [] | first }}{{ [] | last }}", ""],
    // Lists
    [
      "{% for c in 'ab' %}{{ c }}.{% endfor %}{% for k, v in [('a', 1)] %}{{ k }}{{ v }}{% endfor %}{% for k in {'x': 1} %}{{ k }}{% endfor %}",
      "a.b.a1x",
    ],
    [
      "{{ [1, 2, 3] | select('odd') | list }}{{ [1, '', 2] | reject | list }}{{ ['a'] | map('upper') | list }}",
      "[1, 3]['']['A']",
    ],
    [
      "{{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }}{{ [{'n': 'x'}, {'n': 'y'}] | selectattr('n', 'in', ['y']) | list }}",
      "[1][{'n': 'y'}]",
    ],
    ["{{ [1, 2] | sum }}{{ [1, 3, 2] | max }}{{ ['b', 'a'] | min }}{{ 1.26 | round(1) }}", "33a1.3"],
    [
      "{{ [1] | sum(start=4) }}{{ [{'a': 1}] | sum(attribute='a') }}{{ ['a', 'B'] | max }}{{ true is number }}",
      "51BTrue",
    ],
    [
      "{{ 2.5 | round }}{{ 3.5 | round }}{{ 0.125 | round(2) }}{{ 2.665 | round(2) }} {{ 2.4 | round(0, 'ceil') }}{{ 2.6 | round(method='floor') }}",
      "2.04.00.122.67 3.02.0",
    ],
    // Loops that are left
    ["{% for i in [1, 2] %}A{% continue %}B{% endfor %}", "AA"],
    ["{% for i in [1, 2] %}A{% if i == 1 %}B{% break %}{% endif %}C{% endfor %}D", "ABD"],
    ["{% for i in [1, 2] %}{% for j in [1, 2] %}{{ i }}{{ j }} {% break %}{% endfor %}{% endfor %}", "11 21 "],
    ["{% for i in [1, 2, 3] if i != 2 %}{{ loop.index }}{% if i == 3 %}{% continue %}{% endif %},{% endfor %}", "1,2"],
    // Raw text, formats, rows
    ["{% raw %}{{ x }}{% endraw %}|a {%- raw -%} {% if %}\n {%- endraw -%} b", "{{ x }}|a{% if %}b"],
    ['a\n  {% raw %}\n  {{ "x" }} {# no #}\n  {% endraw %}\nb', 'a\n\n  {{ "x" }} {# no #}\nb'],
    [
      "{{ '%s: %d%% %05.2f %3d|' | format('a', 3.7, 1.5, 2) }}{{ '%s-%s' % ('a', none) }}{{ 'x %s' % true }}",
      "a: 3% 01.50   2|a-Nonex True",
    ],
    [
      "{{ [1, 2, 3] | batch(2) | list }}{{ 'abc' | batch(2, '-') | list }}{{ u | batch(2) | list }}",
      "[[1, 2], [3]][['a', 'b'], ['c', '-']][]",
    ],
    // Objects
    [
      "{% set d = dict({'b': 1}, a=2) %}{{ d }}{{ d.a }}{{ dict() }}{% for k, v in d.items() %}{{ k }}={{ v }} {% endfor %}",
      "{'b': 1, 'a': 2}2{}b=1 a=2 ",
    ],
    [
      "{% set d = {0: 'a', 512: 'b', 'c': 1} %}{{ d }}{{ d[512] }}{{ d[1] is defined }}{{ 0 in d }}{{ d['c'] }}",
      "{0: 'a', 512: 'b', 'c': 1}bFalseTrue1",
    ],
    [
      "{% for k, v in {8: 'b', 2: 'a'}.items() %}{% if k > 2 %}{{ v }}{% endif %}{% endfor %}{{ {8: 1, 2: 0} | list }}",
      "b[8, 2]",
    ],
    ["{% for k, v in {512: 'b', 64: 'a'} | dictsort %}{{ k + 1 }}{{ v }} {% endfor %}", "65a 513b "],
    [
      "{{ {'B': 1, 'a': 2} | dictsort | map('first') | list }}{{ {'a': 2, 'b': 1} | dictsort(false, 'value', reverse=true) | map('last') | list }}",
      "['a', 'B'][2, 1]",
    ],
    ["{{ {'items': 1}['items'] }}{{ {'a': 1}.items() | list | length }}{{ {'a': {'b': 2}}['a']['b'] }}", "112"],
    [
      "{% set p = {'items': {'type': 'x'}, 'get': 1, 'keys': 2, 'values': 3} %}{% for k, v in p.items() %}{{ k }} {% endfor %}{{ p['items'].type }}{{ p.items is mapping }}{{ p.items.type is defined }}",
      "items get keys values xFalseFalse",
    ],
    [
      "{% set p = {'get': 1, 'keys': 2, 'values': 3} %}{{ p.get('get') }}{{ p.get('x') }}{{ p.get('x', 'd') }}{{ p.keys() }}{{ p.values() }}{{ p['get'] }}",
      "1Noned['get', 'keys', 'values'][1, 2, 3]1",
    ],
    [
      "{{ {512: 'a'}.get(512) }}{{ {512: 'a'}.keys() }}{{ [{'items': 5}] | map(attribute='items') | list }}",
      "a[512][5]",
    ],
    ["{% set n = namespace(items=[1], get=3) %}{{ n.items }}{{ n.get }}", "[1]3"],
    // Numbers
    ["{{ true | int }}{{ false | int }} {{ true | float }} {{ none | int }}{{ 'x' | int(3) }}", "10 1.0 03"],
    ["{{ 5 % 3.0 }} {{ 5.5 % 2 }}", "2.0 1.5"],
    // Equality
    [
      "{{ '' != false }} {{ '1' == 1 }} {{ 1 == true }} {{ [1] == [1] }} {{ {'a': []} == {'a': []} }} {{ u == none }}",
      "True False True True True False",
    ],
    [
      "{{ none in [none] }}{{ [1] in [[1]] }}{{ 'a' in {'a': 1} }}{{ 'a' not in 'b' }}{{ '1' in [1] }}",
      "TrueTrueTrueTrueFalse",
    ],
    ["{{ -7 % 3 }} {{ 7 % -3 }} {{ 7 % 3 }}", "2 -2 1"],
    ["{{ 1.5 is float }}{{ {} is iterable }}{{ [1, 2] | select('ge', 2) | list }}", "TrueTrue[2]"],
  ])("does as in Python: %s gives %s", (source, text) => {
    expect(render(source)).toBe(text);
  });

  test("may have the line ends of Windows, or of an old Mac", () => {
    const source = "{% for m in messages %}\n<|{{ m.role }}|>\n{{ m.content }}\n{% endfor %}\n{{ 'a\nb' }}";
    expect(render(source)).toBe("<|user|>\nHi\na\nb");
    for (const lineEnd of ["\r\n", "\r"]) expect(render(source.replaceAll("\n", lineEnd))).toBe(render(source));
  });

  test("may refuse messages, in its own words", () => {
    expect(() => render("{{ raise_exception('no system prompt') }}")).toThrow("no system prompt");
    expect(() => render("{{ 'a b'.rsplit(' ') }}{{ joiner() }}")).toThrow('there is no "rsplit"');
    expect(() => render("{{ u | tojson }}")).toThrow("undefined has no JSON");
    expect(() => render("{% set j = joiner(', ') %}")).toThrow('there is no "joiner"');
    expect(() => render("{% for x in [1] %}{{ loop.depth }}{% endfor %}")).toThrow("loop.depth is not known");
  });

  test("may be given much to write", () => {
    const long = [{ role: "user", content: "x".repeat(3_000_000) }];
    expect(render("{{ messages[0].content }}!", { messages: long })).toHaveLength(3_000_001);
  });

  test("may go through all that it is given as often as those of well-known models", () => {
    const source =
      "{% for m in messages %}{% if m.content is string and '</think>' in m.content %}" +
      "{% set text = m.content.split('</think>')[-1].lstrip('\n') %}{% else %}{% set text = m.content | trim %}{% endif %}" +
      "{% if loop.last %}{{ '<|im_start|>' + m.role + '\n' + text }}" +
      "{% else %}{{ '<|im_start|>' + m.role + '\n' + text + '<|im_end|>' }}{% endif %}{% endfor %}";
    const many = Array.from({ length: 20 }, () => ({ role: "user", content: `</think>${"x".repeat(100_000)}` }));
    expect(render(source, { messages: many }).length).toBeGreaterThan(2_000_000);
  });

  test("may write the schemas of a hundred tools, part by part", () => {
    const source =
      "{% macro schema(s) %}{% for k, v in s | dictsort %}{{ k }}:{% if v is mapping %}{ {{- schema(v) -}} }" +
      "{% elif v is string %}{{ '\"' ~ v ~ '\"' }}{% elif v is iterable %}[{% for e in v %}{{ e }}{% if not loop.last %},{% endif %}{% endfor %}]" +
      "{% else %}{{ v | tojson }}{% endif %}{% if not loop.last %},{% endif %}{% endfor %}{% endmacro %}" +
      "{% for t in tools %}{{ schema(t) }}{% endfor %}";
    const parameters = Array.from({ length: 8 }, (_, i) => [
      `p${i}`,
      { type: "string", description: "d", enum: ["a", "b"] },
    ]);
    const tool = { name: "f", parameters: { type: "object", properties: Object.fromEntries(parameters) as object } };
    expect(render(source, { tools: Array.from({ length: 100 }, () => tool) })).toContain('p7:{description:"d"');
  });

  test("may call macros out of a list with a long text", () => {
    const source =
      "{% macro a(x) %}{{ x }}{% endmacro %}{% set all = [a, messages[0].content] %}{{ all[0](messages[0].content) }}";
    expect(render(source, { messages: [{ role: "user", content: "x".repeat(100_000) }] })).toHaveLength(100_000);
  });
});

describe("a hostile template is stopped", () => {
  const loops = (depth: number) => "{% for a in range(1000) %}".repeat(depth) + "{% endfor %}".repeat(depth);
  test.each([
    ["loops in loops", loops(5), "too many steps"],
    ["a range without end", "{% for i in range(10 ** 12) %}{% endfor %}{{ range(1000000000) }}", ""],
    ["a range by another name", "{% set r = range %}{{ r(1000000000) }}", "range of 1000000000"],
    ["a range with a step of 0", "{{ range(0, 5, 0) }}", "range of"],
    [
      "a text that doubles",
      "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "too long a text",
    ],
    [
      "a filter over a long text, many times",
      "{% set ns = namespace(x='ab ') %}{% for i in range(18) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{% for i in range(300) %}{% set y = ns.x | title %}{% endfor %}",
      "too many steps",
    ],
    ["a list that doubles", `{% set x = ['ab'] %}${"{% set x = [x, x] %}".repeat(40)}{{ x }}`, "too many steps"],
    [
      "a list that doubles in a namespace",
      "{% set ns = namespace(x=['ab']) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}",
      "too many steps",
    ],
    [
      "namespaces that hold each other twice",
      `{% set n0 = namespace(a=1) %}${Array.from(
        { length: 40 },
        (_, i) => `{% set n${i + 1} = namespace(a=n${i}, b=n${i}) %}`,
      ).join("")}{{ n40 }}`,
      "too many steps",
    ],
    ["a list that holds itself", "{% set n = namespace(a=1) %}{% set n.a = [n, n] %}{{ n }}", "too many steps"],
    [
      "messages, many times over",
      `{% set x = [messages, messages] %}${"{% set x = x + x %}".repeat(12)}{{ x }}`,
      "too long a text",
      [{ role: "user", content: "x".repeat(100_000) }],
    ],
    ...[
      "{{ x | indent(1000000000) }}",
      "{{ [1, 2] | tojson(indent=1000000000) }}",
      "{{ x.replace('a', x) }}",
      "{{ x | replace('a', x) }}",
      "{{ x.join(range(5000)) }}",
      "{{ x['re' ~ 'place']('a', x) }}",
      "{{ range(5000) | join(x) }}",
      "{% filter replace('a', x) %}{{ x }}{% endfilter %}",
    ].map((source): [string, string, string] => [
      `a text out of all proportion: ${source}`,
      `{% set ns = namespace(x='a') %}{% for i in range(19) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{% set x = ns.x %}${source}`,
      "may make too long a text",
    ]),
    ["a row without end", "{{ [1] | batch(10 ** 9, 'x') | list }}", "batch takes 1 to"],
    ["a method by another name", "{% set f = 'aa'.replace %}{{ f('a', 'b') }}", "without calling it"],
    [
      "a macro that calls itself twice",
      "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
      "too many steps",
    ],
    ["a macro that never ends", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", ""],
    ["a template of megabytes", "x".repeat(300_000), "at most"],
  ] as [string, string, string, object[]?][])("%s", (_, source, part, given = messages) => {
    expect(() => render(source, { messages: given })).toThrow(part === "" ? /./ : part);
  });
});
