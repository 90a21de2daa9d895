import type { ModelCard } from "../protocol/reports.ts";
import { isObject } from "../protocol/json-object.ts";
import { mapStream } from "./map-stream.ts";
import type { ServedEngine } from "./served-engine.ts";

/** A request or an answer, whichever endpoint's. */
interface Named {
  model?: unknown;
}

/** Returns the engine under other names of its model. Answers have the name of their request, or the first. */
export function withNames(engine: ServedEngine, names: readonly string[]): ServedEngine {
  const [first = engine.model.name] = names;
  const model: ModelCard = { ...engine.model, name: first };
  const isName = (name: unknown): name is string => names.some((one) => one === name);
  const unnamed = <Body>(body: Body): Body =>
    isObject(body) && isName(body["model"]) ? { ...body, model: undefined } : body;
  /** The endpoints' overloads are those of the one that is called. */
  const endpoint = <Create extends (body: never, options?: never) => Promise<object>>(of: { create: Create }) => ({
    create: (async (body: Named, options: unknown) => {
      const name = isObject(body) && isName(body.model) ? body.model : first;
      const answer = await of.create(unnamed(body) as never, options as never);
      return Symbol.asyncIterator in answer
        ? mapStream(answer as AsyncIterableIterator<Named>, (chunk) => [{ ...chunk, model: name }])
        : { ...answer, model: name };
    }) as unknown as Create,
  });
  return {
    model,
    chat: { completions: endpoint(engine.chat.completions), render: (body) => engine.chat.render(body) },
    completions: endpoint(engine.completions),
    tokenize: (body) => engine.tokenize(unnamed(body)),
    detokenize: (body) => engine.detokenize(unnamed(body)),
    metrics: () => engine.metrics(),
    stats: () => engine.stats(),
  };
}
