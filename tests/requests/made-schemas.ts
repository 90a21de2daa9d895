// Schemas that programs in other languages make, with values that are valid under them and others that aren't.

export type Row<T> = readonly [what: string, schema: T, valid: readonly unknown[], invalid: readonly unknown[]];

/** As Pydantic's model_json_schema() writes them. */
export const PYDANTIC: Row<object>[] = [
  [
    "a model with models, optionals and defaults",
    {
      $defs: {
        Address: {
          properties: {
            street: { title: "Street", type: "string" },
            zip: { anyOf: [{ type: "string" }, { type: "null" }], default: null, title: "Zip" },
          },
          required: ["street"],
          title: "Address",
          type: "object",
        },
        Colour: { enum: ["red", "green"], title: "Colour", type: "string" },
      },
      properties: {
        name: { maxLength: 5, minLength: 1, title: "Name", type: "string" },
        colour: { $ref: "#/$defs/Colour", default: "red" },
        address: { anyOf: [{ $ref: "#/$defs/Address" }, { type: "null" }], default: null },
        tags: { items: { type: "boolean" }, maxItems: 2, title: "Tags", type: "array" },
      },
      required: ["name", "tags"],
      title: "User",
      type: "object",
    },
    [
      { name: "a", colour: "green", address: { street: "b" }, tags: [true] },
      { name: "a", address: null, tags: [] },
    ],
    [{ name: "", tags: [] }, { name: "a", colour: "blue", tags: [] }, { name: "a" }],
  ],
  [
    "a discriminated union",
    {
      $defs: {
        Cat: {
          properties: {
            pet: { const: "cat", title: "Pet", type: "string" },
            lives: { maximum: 9, minimum: 0, type: "integer" },
          },
          required: ["pet", "lives"],
          type: "object",
        },
        Dog: { properties: { pet: { const: "dog", title: "Pet", type: "string" } }, required: ["pet"], type: "object" },
      },
      discriminator: { mapping: { cat: "#/$defs/Cat", dog: "#/$defs/Dog" }, propertyName: "pet" },
      oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }],
    },
    [{ pet: "cat", lives: 9 }, { pet: "dog" }],
    [{ pet: "cat" }, { pet: "cow" }],
  ],
  [
    "Decimal, sets, dicts and tuples",
    {
      properties: {
        price: {
          anyOf: [
            { exclusiveMinimum: 0, type: "number" },
            { pattern: String.raw`^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`, type: "string" },
          ],
          title: "Price",
        },
        point: { maxItems: 2, minItems: 2, prefixItems: [{ type: "integer" }, { type: "integer" }], type: "array" },
        scores: { additionalProperties: { type: "integer" }, propertyNames: { maxLength: 2 }, type: "object" },
        flags: { items: { enum: ["a", "b"], type: "string" }, type: "array", uniqueItems: true },
      },
      required: ["price", "point"],
      type: "object",
    },
    [
      { price: 1.5, point: [1, 2], scores: { a: 1 }, flags: ["b"] },
      { price: "0.25", point: [1, 2] },
    ],
    [
      { price: 0, point: [1, 2] },
      { price: "-.", point: [1, 2] },
      { price: 1, point: [1] },
      { price: 1, point: [1, 2], flags: ["a", "a"] },
    ],
  ],
  [
    "a model that contains itself, and forbids others",
    {
      $defs: {
        Node: {
          additionalProperties: false,
          properties: { next: { anyOf: [{ $ref: "#/$defs/Node" }, { type: "null" }] }, value: { type: "integer" } },
          required: ["value"],
          type: "object",
        },
      },
      $ref: "#/$defs/Node",
    },
    [{ next: { next: null, value: 1 }, value: 2 }],
    [
      { value: 1, other: 2 },
      { next: 1, value: 2 },
    ],
  ],
];

/** As OpenAI's guide to strict mode has them: all properties required, none additional. */
export const OPENAI: Row<object>[] = [
  [
    "steps of a solution",
    {
      type: "object",
      properties: {
        steps: { type: "array", items: { $ref: "#/$defs/step" }, maxItems: 2 },
        final_answer: { type: "string", maxLength: 5 },
      },
      $defs: {
        step: {
          type: "object",
          properties: { explanation: { type: "string" }, output: { type: ["string", "null"] } },
          required: ["explanation", "output"],
          additionalProperties: false,
        },
      },
      required: ["steps", "final_answer"],
      additionalProperties: false,
    },
    [{ steps: [{ explanation: "a", output: null }], final_answer: "b" }],
    [{ steps: [{ explanation: "a" }], final_answer: "b" }, { final_answer: "b" }],
  ],
  [
    "an interface that contains itself",
    {
      type: "object",
      properties: {
        type: { type: "string", enum: ["div", "button"] },
        label: { type: "string", maxLength: 3 },
        children: { type: "array", items: { $ref: "#" }, maxItems: 2 },
        attributes: {
          type: "array",
          maxItems: 1,
          items: {
            type: "object",
            properties: { name: { type: "string", pattern: "^[a-z]{1,4}$" } },
            additionalProperties: false,
            required: ["name"],
          },
        },
      },
      required: ["type", "label", "children", "attributes"],
      additionalProperties: false,
    },
    [
      {
        type: "div",
        label: "a",
        children: [{ type: "button", label: "b", children: [], attributes: [] }],
        attributes: [{ name: "x" }],
      },
    ],
    [{ type: "p", label: "a", children: [], attributes: [] }],
  ],
];

/** As servers of the Model Context Protocol describe their tools' arguments. */
export const MCP: Row<object>[] = [
  [
    "edits of a file",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        path: { type: "string" },
        edits: {
          type: "array",
          maxItems: 2,
          items: {
            type: "object",
            properties: { oldText: { type: "string", description: "x" }, newText: { type: "string" } },
            required: ["oldText", "newText"],
            additionalProperties: false,
          },
        },
        dryRun: { type: "boolean", default: false },
      },
      required: ["path", "edits"],
      additionalProperties: false,
    },
    [{ path: "a", edits: [{ oldText: "a", newText: "b" }], dryRun: true }],
    [{ path: "a", edits: [{ oldText: "a" }] }, { path: "a" }],
  ],
  ["no arguments", { type: "object", properties: {} }, [{}, { a: 1 }], [1, []]],
  [
    "a search with options",
    {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1 },
        per_page: { type: "number", minimum: 1, maximum: 100, default: 30 },
        sort: { type: "string", enum: ["asc", "desc"] },
        labels: { type: "array", items: { type: "string", maxLength: 3 }, maxItems: 3 },
        since: { type: "string", format: "date-time" },
      },
      required: ["query"],
      additionalProperties: true,
    },
    [{ query: "a", per_page: 100, since: "2024-02-29T12:00:00Z" }],
    [{ query: "" }, { query: "a", per_page: 101 }, { query: "a", since: "today" }],
  ],
  [
    "either of two ways to say it",
    {
      type: "object",
      properties: { id: { type: "integer" }, name: { type: "string" } },
      oneOf: [{ required: ["id"] }, { required: ["name"] }],
      additionalProperties: false,
    },
    [{ id: 1 }, { name: "a" }],
    [{ id: 1, name: "a" }, {}],
  ],
];
