// The fields of a chat that are about tools, and messages with calls.

import { boolean, field, refusal } from "./field-case.ts";
import { othersThan } from "./odd-values.ts";

const QUESTION = [{ role: "user", content: "Hi" }];
const callWith = (text: string) => ({ id: "1", type: "function", function: { name: "f", arguments: text } });
const CALL = callWith("{}");
const calling = (calls: readonly object[], ...others: readonly object[]) => [
  { role: "assistant", content: null, tool_calls: calls },
  ...others,
];
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: [{ type: "text", text: "7" }] });

/** Messages that are accepted. */
export const HISTORIES = [
  calling([CALL], result("1")),
  calling([CALL, { ...CALL, id: "2" }], result("2"), result("1"), ...QUESTION),
  [
    { role: "assistant", function_call: CALL.function },
    { role: "function", name: "f", content: "7" },
  ],
];

export const REFUSED_HISTORIES = [
  refusal("missing_required_parameter", "messages[1].tool_call_id", [...QUESTION, { role: "tool", content: "7" }]),
  refusal("missing_required_parameter", "messages[0].tool_calls[0].id", calling([{}])),
  refusal("missing_required_parameter", "messages[0].tool_calls[0].function", calling([{ id: "1" }])),
  refusal("invalid_value", "messages[0].tool_calls[0].type", calling([{ ...CALL, type: "custom" }])),
  refusal(
    "missing_required_parameter",
    "messages[0].tool_calls[0].function.name",
    calling([{ id: "1", function: {} }]),
  ),
  ...["{", "7", "[]", "null"].map((text) =>
    refusal("invalid_value", "messages[0].tool_calls[0].function.arguments", calling([callWith(text)])),
  ),
  refusal("invalid_value", "messages[0].tool_calls[0].function.arguments", calling([callWith('{"a":'.repeat(9000))])),
  refusal("invalid_value", "messages[0].function_call", [{ ...calling([CALL])[0], function_call: CALL.function }]),
  ...["tool_calls", "function_call", "tool_call_id"].map((name) =>
    refusal("invalid_value", `messages[0].${name}`, [
      { role: "user", content: "Hi", [name]: name === "tool_calls" ? [CALL] : "x" },
    ]),
  ),
  refusal("invalid_value", "messages[0].tool_calls", calling([CALL, CALL])),
  refusal("invalid_value", "messages[1].tool_call_id", calling([CALL], result("2"))),
  refusal("invalid_value", "messages[2].tool_call_id", calling([CALL], result("1"), result("1"))),
  refusal("invalid_value", "messages[1].role", calling([CALL], ...QUESTION)),
  refusal("invalid_value", "messages", calling([CALL])),
  refusal("invalid_value", "messages[0].tool_call_id", [result("1")]),
];

const tool = (changes: object = {}) => [{ type: "function", function: { name: "f", ...changes } }];

export const TOOL_CASES = {
  tools: field(
    "tools",
    ["list"],
    [[], tool({ description: "", parameters: { type: "object" }, strict: true })],
    [],
    [
      ...othersThan(["object"]).map((value) => refusal("invalid_type", "tools[0]", [value])),
      refusal("missing_required_parameter", "tools[0].type", [{}]),
      refusal("unsupported_parameter", "tools[0].type", [{ type: "custom", custom: { name: "f" } }]),
      refusal("missing_required_parameter", "tools[0].function", [{ type: "function" }]),
      refusal("missing_required_parameter", "tools[0].function.name", tool({ name: null })),
      ...["", "f g", "f".repeat(65)].map((name) => refusal("invalid_value", "tools[0].function.name", tool({ name }))),
      refusal("invalid_type", "tools[0].function.strict", tool({ strict: 1 })),
      ...othersThan(["object"]).map((value) =>
        refusal("invalid_type", "tools[0].function.parameters", tool({ parameters: value })),
      ),
      refusal("invalid_value", "tools[0].function.parameters.type", tool({ parameters: { type: "string" } })),
      refusal("unknown_parameter", "tools[0].function.parameter", tool({ parameter: {} })),
      refusal("invalid_value", "tools[1]", [...tool(), ...tool()]),
      refusal(
        "invalid_value",
        "tools",
        Array.from({ length: 129 }, (_, i) => tool({ name: `f${i}` })[0]),
      ),
      refusal("invalid_value", "tools", tool({ description: "x".repeat(100_000) })),
    ],
  ),
  tool_choice: field(
    "tool_choice",
    ["string", "object"],
    ["none", "auto"],
    ["required", "any"],
    [
      refusal("invalid_value", "tool_choice.function.name", { type: "function", function: { name: "f" } }),
      refusal("missing_required_parameter", "tool_choice.function.name", { type: "function" }),
      refusal("missing_required_parameter", "tool_choice.type", {}),
      refusal("invalid_value", "tool_choice.type", { type: "custom", custom: { name: "f" } }),
      refusal("missing_required_parameter", "tool_choice.allowed_tools.mode", { type: "allowed_tools" }),
    ],
  ),
  parallel_tool_calls: boolean("parallel_tool_calls"),
  functions: field(
    "functions",
    ["list"],
    [[], [{ name: "f" }]],
    [],
    [
      ...othersThan(["object"]).map((value) => refusal("invalid_type", "functions[0]", [value])),
      refusal("missing_required_parameter", "functions[0].name", [{}]),
    ],
  ),
  function_call: field(
    "function_call",
    ["string", "object"],
    ["none", "auto"],
    ["required"],
    [
      refusal("invalid_value", "function_call.name", { name: "f" }),
      refusal("missing_required_parameter", "function_call.name", {}),
    ],
  ),
};
