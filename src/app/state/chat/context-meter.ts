import { reservedTokens } from "../settings/question-settings.ts";
import { contextCut, tokensOf, type ContextCut, type ContextUse } from "./context-cut.ts";
import type { Pane } from "./pane.ts";

/** People type faster than this: typed text is counted when they pause, other changes at once. */
const PAUSE_MS = 250;

/** Keeps a pane's `contextUse`: counts its draft and its whole prompt. Returns the function that ends that. */
export function meterContext({ store, asking, contextUse, calls }: Pane): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the newest count; older ones are ignored. */
  let newest = 0;
  let known: { readonly cut: ContextCut; readonly engine: object } | null = null;

  const measure = async (): Promise<ContextUse | null> => {
    const { engine, isRemote, settings, continuesText } = asking.getState();
    const { draft, turns, contextStart, phase } = store.getState();
    if (engine === null || isRemote) return null;
    const tokenize = engine.tokenize.bind(engine);
    const contextTokens = engine.model.contextLength;
    const draftTokens = await tokensOf(draft.trim(), tokenize);
    if (phase !== "idle") return { draftTokens, promptTokens: null, contextTokens, contextStart };
    if (continuesText) {
      return { draftTokens, promptTokens: draftTokens, contextTokens, contextStart: turns.length };
    }
    const { system = "" } = settings;
    const tools = await calls.known(settings);
    const isSame = known?.cut.turns === turns && known.cut.system === system;
    const hasSameTools = JSON.stringify(known?.cut.tools) === JSON.stringify(tools);
    if (known === null || known.engine !== engine || !isSame || !hasSameTools) {
      known = { cut: contextCut(turns, system, tokenize, tools), engine };
    }
    const { cut } = known;
    const answerTokens = reservedTokens(settings, engine.model) ?? 0;
    const first = await cut.firstThatFits(contextStart, draftTokens, contextTokens - answerTokens);
    const promptTokens = (await cut.tokensFrom(first)) + draftTokens;
    return { draftTokens, promptTokens, contextTokens, contextStart: first };
  };
  const count = async () => {
    clearTimeout(timer);
    const own = ++newest;
    // If it can't be counted, the meter is empty; the question itself will be answered or refused with a reason.
    const use = await measure().catch(() => null);
    if (own === newest) contextUse.setState(use, true);
  };
  const countSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void count(), PAUSE_MS);
  };
  const unsubscribes = [
    store.subscribe((now, before) => {
      const hasSettled = now.phase === "idle" && (now.phase !== before.phase || now.turns !== before.turns);
      if (hasSettled) void count();
      else if (now.draft !== before.draft || now.phase !== before.phase) countSoon();
    }),
    asking.subscribe((now, before) => {
      if (now.engine === before.engine && now.isRemote === before.isRemote) countSoon();
      else void count();
    }),
  ];
  void count();
  return () => {
    clearTimeout(timer);
    newest++;
    for (const unsubscribe of unsubscribes) unsubscribe();
  };
}
