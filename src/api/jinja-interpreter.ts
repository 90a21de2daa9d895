// @huggingface/jinja as Python's Jinja would have it. Where the two differ, the library's steps are replaced by those here, which
// hand on what they have evaluated, so that nothing is evaluated twice. docs/decisions.md lists the differences for the library.
// Its steps are private by type only, and its version is pinned: bounded-template.test.ts fails where an update moves them.

import { Interpreter, type Environment } from "@huggingface/jinja";

import {
  FILTERS,
  LIST_FILTERS,
  NUMBER_FILTERS,
  OBJECT_METHODS,
  TESTS,
  TEXT_FILTERS,
  TEXT_METHODS,
  type Test,
} from "./jinja-filters.ts";
import {
  areEqual,
  booleanValue,
  contains,
  elementsOf,
  floatValue,
  formatted,
  functionValue,
  isUndefined,
  listValue,
  numberValue,
  objectValue,
  strOf,
  textValue,
  UNDEFINED,
  type Value,
} from "./jinja-values.ts";

/** A node of the library's, by the fields that matter here. Which of them it has follows from its type. */
interface Node {
  readonly type: string;
  readonly value: unknown;
  readonly operator: { readonly value: string };
  readonly left: Node;
  readonly right: Node;
  readonly object: Node;
  readonly property: Node;
  readonly computed: boolean;
  readonly operand: Node;
  readonly test: { readonly value: string };
  readonly negate: boolean;
  readonly body: readonly Node[];
  readonly iterable: Node & { readonly lhs?: Node };
  readonly callee: Node & { readonly property?: Node };
}

/** A filter's name, or the call of one. */
interface FilterNode {
  readonly type: string;
  readonly value?: string;
  readonly callee?: { readonly value: string };
  readonly args?: readonly Node[];
}

/** The library's interpreter with its steps. */
interface Steps {
  run(program: Parameters<Interpreter["run"]>[0]): Value;
  evaluate(node: Pick<Node, "type"> | undefined, environment: Environment): Value;
  evaluateBlock(statements: readonly Node[], environment: Environment): Value;
  evaluateFor(node: Node, environment: Environment): Value;
  evaluateArguments(args: readonly Node[], environment: Environment): [Value[], Map<string, Value>];
  applyFilter(operand: Value, filter: FilterNode, environment: Environment): Value;
  evaluateTestExpression(node: Node, environment: Environment): Value;
  evaluateBinaryExpression(node: Node, environment: Environment): Value;
  evaluateMemberExpression(node: Node, environment: Environment): Value;
  evaluateCallExpression(node: Node, environment: Environment): Value;
}

const OpenInterpreter = Interpreter as unknown as new (environment: Environment) => Steps;

/** A node that was evaluated before. */
export class KnownNode {
  readonly type = "Known";
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

const known = (value: Value) => new KnownNode(value) as unknown as Node;

/** Leaves a loop's round, with what it has written so far. */
class LoopControl extends Error {
  written = "";
  readonly endsLoop: boolean;

  constructor(endsLoop: boolean) {
    super("break or continue stands outside of a loop");
    this.endsLoop = endsLoop;
  }
}

/** Statements that have the value none and write nothing. */
const SILENT = ["Set", "Macro", "Comment"];

/** Null: the library knows. */
const OPERATORS: ReadonlyMap<string, (left: Value, right: Value) => Value | null> = new Map([
  ["==", (left: Value, right: Value) => booleanValue(areEqual(left, right))],
  ["!=", (left: Value, right: Value) => booleanValue(!areEqual(left, right))],
  ["~", (left: Value, right: Value) => textValue(strOf(left) + strOf(right))],
  ["in", (left: Value, right: Value) => isFound(left, right, true)],
  ["not in", (left: Value, right: Value) => isFound(left, right, false)],
  ["%", modulo],
]);

export class JinjaInterpreter extends OpenInterpreter {
  readonly #loopBodies = new WeakSet<object>();
  readonly #endedLoops = new WeakSet<Environment>();

  override evaluate(node: Pick<Node, "type"> | undefined, environment: Environment): Value {
    if (node?.type === "Break" || node?.type === "Continue") throw new LoopControl(node.type === "Break");
    if (node?.type !== "ObjectLiteral") return super.evaluate(node, environment);
    const fields = Array.from((node as Node).value as ReadonlyMap<Node, Node>, ([name, field]) => {
      return [this.evaluate(name, environment).value, this.evaluate(field, environment)] as const;
    });
    return objectValue(new Map(fields));
  }

  override evaluateFor(node: Node, environment: Environment): Value {
    this.#loopBodies.add(node.body);
    const { iterable } = node;
    const elements = elementsOf(this.evaluate(iterable.lhs ?? iterable, environment));
    // The library unpacks lists only.
    const list = elements.map((one) => (one.type === "TupleValue" ? listValue(elementsOf(one)) : one));
    const evaluated = known(listValue(list));
    const found = iterable.lhs ? { ...iterable, lhs: evaluated } : evaluated;
    return super.evaluateFor({ ...node, iterable: found }, environment);
  }

  /** The rounds of a loop share their environment. */
  override evaluateBlock(statements: readonly Node[], environment: Environment): Value {
    const isRound = this.#loopBodies.has(statements);
    if (isRound && this.#endedLoops.has(environment)) return textValue("");
    let text = "";
    try {
      for (const statement of statements) {
        const value = this.evaluate(statement, environment);
        if (!SILENT.includes(statement.type)) text += strOf(value);
      }
    } catch (error) {
      if (!(error instanceof LoopControl)) throw error;
      text += error.written;
      error.written = text;
      if (!isRound) throw error;
      if (error.endsLoop) this.#endedLoops.add(environment);
    }
    return textValue(text);
  }

  override applyFilter(operand: Value, node: FilterNode, environment: Environment): Value {
    const name = node.callee?.value ?? node.value ?? "";
    const filter = FILTERS.get(name);
    if (name === "tojson" && isUndefined(operand)) throw new Error("undefined has no JSON");
    if (filter === undefined) {
      const isBoolean = typeof operand.value === "boolean";
      const isText = TEXT_FILTERS.has(name) || (!isBoolean && NUMBER_FILTERS.has(name));
      const asNeeded = isText
        ? textValue(strOf(operand))
        : LIST_FILTERS.has(name)
          ? listValue(elementsOf(operand))
          : operand;
      return super.applyFilter(asNeeded, node, environment);
    }
    const [args, named] = this.evaluateArguments(node.args ?? [], environment);
    const apply = (other: string, value: Value) =>
      this.applyFilter(value, { type: "Identifier", value: other }, environment);
    return filter(operand, { args, named, apply, test: (test) => testOf(test, environment) });
  }

  override evaluateTestExpression(node: Node, environment: Environment): Value {
    const isPassed = testOf(node.test.value, environment)(this.evaluate(node.operand, environment));
    return booleanValue(isPassed !== node.negate);
  }

  override evaluateBinaryExpression(node: Node, environment: Environment): Value {
    const operator = OPERATORS.get(node.operator.value);
    if (operator === undefined) return super.evaluateBinaryExpression(node, environment);
    const left = this.evaluate(node.left, environment);
    const right = this.evaluate(node.right, environment);
    const evaluated = { ...node, left: known(left), right: known(right) };
    return operator(left, right) ?? super.evaluateBinaryExpression(evaluated, environment);
  }

  override evaluateCallExpression(node: Node, environment: Environment): Value {
    const callee = this.evaluate(node.callee, environment);
    if (isUndefined(callee))
      throw new Error(`there is no "${String(node.callee.property?.value ?? node.callee.value)}"`);
    return super.evaluateCallExpression({ ...node, callee: known(callee) }, environment);
  }

  override evaluateMemberExpression(node: Node, environment: Environment): Value {
    const object = this.evaluate(node.object, environment);
    const content: unknown = object.value;
    const property = String(node.property.value);
    const method = node.computed ? undefined : TEXT_METHODS.get(property);
    if (typeof content === "string" && method) return functionValue((args) => method(content, args));
    const evaluated = { ...node, object: known(object) };
    if (!(content instanceof Map)) return super.evaluateMemberExpression(evaluated, environment);
    if (!node.computed) {
      const isUnknown = content.has("revindex0") && ["depth", "depth0"].includes(property);
      if (isUnknown) throw new Error(`loop.${property} is not known`);
      const own = object.type === "ObjectValue" ? OBJECT_METHODS.get(property) : undefined;
      if (own) return functionValue((args) => own(object, args));
      return super.evaluateMemberExpression(evaluated, environment);
    }
    const name = this.evaluate(node.property, environment);
    if (typeof name.value === "number") return (content.get(name.value) as Value | undefined) ?? UNDEFINED;
    return super.evaluateMemberExpression({ ...evaluated, property: known(name) }, environment);
  }
}

function testOf(name: string, environment: Environment): Test {
  const test = TESTS.get(name) ?? environment.tests.get(name);
  if (test === undefined) throw new Error(`there is no test "${name}"`);
  return test;
}

function isFound(element: Value, container: Value, requested: boolean): Value | null {
  const found = contains(container, element);
  return found === null ? null : booleanValue(found === requested);
}

/** As in Python the result has the divisor's sign. What divides a text are its values. */
function modulo(left: Value, right: Value): Value | null {
  const { value: a } = left;
  if (typeof a === "string") return textValue(formatted(a, right.type === "TupleValue" ? elementsOf(right) : [right]));
  const { value: b } = right;
  const valueOf = [left.type, right.type].includes("FloatValue") ? floatValue : numberValue;
  return typeof a === "number" && typeof b === "number" && b !== 0 ? valueOf(((a % b) + b) % b) : null;
}
