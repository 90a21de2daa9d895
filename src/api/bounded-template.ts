// A chat template comes with a model, so anyone may have written it. It must not hang the engine or fill its memory. So it
// runs with a budget of evaluations, and with texts, lists and ranges of bounded size. (What takes too long all the same is
// ended with its thread: host/text/.)

import { Environment, Template, type Interpreter } from "@huggingface/jinja";

import { JinjaInterpreter, KnownNode } from "./jinja-interpreter.ts";
import { functionValue, objectValue, type Value } from "./jinja-values.ts";
import { looseMethodOf, productOf, type Product } from "./template-products.ts";

/** Longest template. (The longest of well-known models are a tenth of this.) */
const MAX_TEMPLATE_LENGTH = 2 ** 18;
/** Syntax nodes that one rendering may evaluate, in addition to those per message and value. */
const MAX_EVALUATIONS = 20_000;
const MAX_EVALUATIONS_PER_MESSAGE = 2_000;
/** Most parts of the input: templates write the schemas of tools part by part. */
const MAX_EVALUATIONS_PER_VALUE = 100;
/** Characters of a text that count as one more evaluation, since a filter may go through all of them. */
const CHARACTERS_PER_EVALUATION = 512;
/** How often a template may evaluate all the text it is given. Those of well-known models do so a dozen times. */
const MAX_PASSES = 64;
/** Longest text that any part may produce, in addition to the variables' own. */
const MAX_ADDED_LENGTH = 2 ** 20;
const MAX_RANGE = 10_000;

export class BoundedTemplate {
  readonly #program: Template["parsed"];

  /** Throws if the template isn't valid Jinja or is too long. */
  constructor(source: string) {
    if (source.length > MAX_TEMPLATE_LENGTH) {
      throw new Error(`it has ${source.length} characters; at most ${MAX_TEMPLATE_LENGTH} are allowed`);
    }
    // Jinja reads line ends of any system as "\n", also within texts.
    this.#program = new Template(withoutRaw(source.replace(/\r\n?/g, "\n"))).parsed;
  }

  /** Throws if the template does, or if it exceeds its bounds. */
  render(variables: Readonly<Record<string, unknown>> & { readonly messages: readonly unknown[] }): string {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...globals(), ...variables })) environment.set(name, value);
    if (!Object.hasOwn(variables, "dict")) environment.setVariable("dict", dict);
    const givenLength = JSON.stringify(variables).length;
    const given = Object.keys(variables).map((name) => environment.lookupVariable(name));
    const interpreter = new BoundedInterpreter(environment, given, {
      evaluations:
        MAX_EVALUATIONS +
        MAX_EVALUATIONS_PER_MESSAGE * variables.messages.length +
        (MAX_PASSES * givenLength) / CHARACTERS_PER_EVALUATION,
      length: givenLength + MAX_ADDED_LENGTH,
    });
    // A whole template evaluates to a text.
    return interpreter.run(this.#program).value as string;
  }
}

const RAW = /(?:^[ \t]*)?\{%(-?)\s*raw\s*(-?)%\}(.*?)(?:^[ \t]*)?\{%(-?)\s*endraw\s*(-?)%\}\n?/gms;

/** Returns a template with `{% raw %}` blocks as expressions: the library does not know them. */
function withoutRaw(source: string): string {
  return source.replace(RAW, (_, before: string, start: string, raw: string, end: string, after: string) => {
    const text = end ? raw.trimEnd() : raw;
    return `{{${before} ${JSON.stringify(start ? text.trimStart() : text)} ${after}}}`;
  });
}

type Evaluate = Interpreter["evaluate"];

class BoundedInterpreter extends JinjaInterpreter {
  readonly #mostEvaluations: number;
  readonly #mostLength: number;
  /** Characters of each value that was given, with all that is in it. A template can't change these. */
  readonly #given = new Map<unknown, number>();
  #evaluations = 0;
  /** Depth of the evaluated node. */
  #product: Product | null = null;

  constructor(
    environment: Environment,
    given: readonly unknown[],
    { evaluations, length }: { evaluations: number; length: number },
  ) {
    super(environment);
    this.#mostLength = length;
    for (const value of given) this.#remember(value);
    this.#mostEvaluations = evaluations + MAX_EVALUATIONS_PER_VALUE * this.#given.size;
  }

  override evaluate(...args: Parameters<Evaluate>): ReturnType<Evaluate> {
    const [node, environment] = args;
    if (node instanceof KnownNode) return node.value;
    this.#charge(1);
    const outer = this.#product;
    const result = this.#evaluateParts(args, outer);
    const length = this.#lengthOf(result);
    if (length > this.#mostLength) throw new Error("it makes too long a text");
    if (node !== undefined) {
      const owner = looseMethodOf(node, result, outer);
      // An object's own methods stand for names that it lacks: templates look for "items" in a schema.
      if (owner !== null && super.evaluate(owner, environment).type === "StringValue") {
        throw new Error("it uses a method without calling it");
      }
      outer?.take(node, result, length);
    }
    const { value } = result as { value: unknown };
    if (typeof value === "string") this.#charge(Math.floor(value.length / CHARACTERS_PER_EVALUATION));
    return result;
  }

  #evaluateParts(args: Parameters<Evaluate>, outer: Product | null): ReturnType<Evaluate> {
    this.#product = productOf(args[0], outer);
    try {
      return super.evaluate(...args);
    } finally {
      this.#product = outer; // also where a loop is left
    }
  }

  /**
   * Returns how long a value is as text, roughly. Charges for each part: a list that holds the same list twice, and so on,
   * is small in memory and endless as text. A loop over a list takes as many steps as well.
   */
  #lengthOf(value: unknown): number {
    const given = this.#given.get(value);
    if (given !== undefined) return given;
    let length = 0;
    const left = [value];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const parts = partsOf(next);
      this.#charge(parts.length);
      length += ownLength(next);
      for (const part of parts) {
        const known = this.#given.get(part);
        if (known === undefined) left.push(part);
        else length += known;
      }
    }
    return length;
  }

  #remember(value: unknown): number {
    const length = ownLength(value) + partsOf(value).reduce<number>((sum, part) => sum + this.#remember(part), 0);
    this.#given.set(value, length);
    return length;
  }

  #charge(evaluations: number): void {
    this.#evaluations += evaluations;
    if (this.#evaluations > this.#mostEvaluations) throw new Error("it takes too many steps");
  }
}

/** Returns the values in one of Jinja's lists, objects or namespaces. */
function partsOf(value: unknown): readonly unknown[] {
  const { value: content } = value as { value: unknown };
  if (content instanceof Map) return [...(content as Map<string, unknown>).values()];
  return Array.isArray(content) ? content : [];
}

function ownLength(value: unknown): number {
  const { value: content } = value as { value: unknown };
  return typeof content === "string" ? content.length : 1;
}

const dict = functionValue((args) =>
  objectValue(new Map(args.flatMap(({ value }) => [...(value as Map<unknown, Value>)]))),
);

/** Names in Jinja and in Hugging Face's chat templates. */
function globals(): Record<string, unknown> {
  return {
    true: true,
    True: true,
    false: false,
    False: false,
    none: null,
    None: null,
    range,
    raise_exception: (message: unknown) => {
      throw new Error(String(message));
    },
    strftime_now: (format: unknown) => formatTime(String(format), new Date()),
  };
}

function range(first: number, last?: number, step = 1): number[] {
  const [start, stop] = last === undefined ? [0, first] : [first, last];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= MAX_RANGE)) throw new Error(`it asks for a range of ${length} numbers`);
  return Array.from({ length }, (_, i) => start + i * step);
}

function formatTime(format: string, time: Date): string {
  const named = (options: Intl.DateTimeFormatOptions) => time.toLocaleDateString("en-US", options);
  const digits = (value: number) => String(value).padStart(2, "0");
  const parts = new Map([
    ["%Y", String(time.getFullYear())],
    ["%m", digits(time.getMonth() + 1)],
    ["%d", digits(time.getDate())],
    ["%H", digits(time.getHours())],
    ["%M", digits(time.getMinutes())],
    ["%S", digits(time.getSeconds())],
    ["%b", named({ month: "short" })],
    ["%B", named({ month: "long" })],
    ["%a", named({ weekday: "short" })],
    ["%A", named({ weekday: "long" })],
  ]);
  return format.replace(/%[A-Za-z]/g, (part) => parts.get(part) ?? part);
}
