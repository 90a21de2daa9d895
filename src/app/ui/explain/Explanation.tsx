import { useState } from "react";
import { useStore } from "zustand";
import { modeOf } from "../../state/engine/serving.ts";
import { useApp } from "../app/page-context.ts";
import { Button, IconButton } from "../components/Button.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { EXPLANATIONS, TERMS, type Term, type Explanation } from "./explanations.ts";
import { numStepsOf, Run, useSteps } from "./Run.tsx";

/** The explanation of a term: words, a small picture, its current value, and links to the other terms. */
export function Explanation({ first }: { first: Term }) {
  const [term, setTerm] = useState(first);
  const explanation = EXPLANATIONS[term];
  return (
    // As high as any of the explanations: changing the term moves nothing.
    <div className="stack min-h-[min(520px,calc(100dvh_-_120px))] min-w-0 flex-1 overflow-auto p-4">
      <h3 className="[font:600_16px/24px_var(--sans)]">{explanation.title}</h3>
      <p className="t-14 text-pretty text-ink-2">{explanation.words}</p>
      <Picture key={term} explanation={explanation} />
      <Now term={term} />
      <ul className="section row flex-wrap gap-1.5" aria-label="Explained">
        {TERMS.map((other) => (
          <li key={other}>
            <Button className="h-(--icon-h) px-2.5 t-12" aria-pressed={other === term} onClick={() => setTerm(other)}>
              {EXPLANATIONS[other].title}
            </Button>
          </li>
        ))}
      </ul>
      <p className="small text-ink-2">
        <DocsLink page="how-it-works">How it works</DocsLink> has all of it on one page,{" "}
        <DocsLink page="tuning">Tuning</DocsLink> which setting is for which load.
      </p>
    </div>
  );
}

function Now({ term }: { term: Term }) {
  const { batch, serving } = useApp();
  const figures = useStore(batch.metrics.store);
  const mode = useStore(serving.store, modeOf);
  const modeWords = term === mode ? "The engine uses this mode now." : `Now the engine's mode is ${mode}.`;
  return <p className="small">{EXPLANATIONS[term].now?.(figures) ?? modeWords}</p>;
}

/** The whole takes less than five seconds and then rests: nothing moves for long by itself. */
const STEP_MS = 350;

function Picture({ explanation: { picture, pictureWords } }: { explanation: Explanation }) {
  const { upTo, isOver, isStill, again } = useSteps(numStepsOf(picture), STEP_MS);
  return (
    <div className="rounded-md bg-surface-2 p-3 [&_text]:fill-ink-2 [&_text]:t-11 [&>svg]:block [&>svg]:w-full [&>svg]:max-w-90">
      <Run rows={picture} upTo={upTo} label={pictureWords} />
      <div className="mt-2 flex items-start gap-2">
        {/* As high as its longest words, so that the list below stays. */}
        <p className="min-h-12 flex-1 t-12 text-ink-2">{pictureWords}</p>
        {!isStill && <IconButton icon="again" name="Play again" disabled={!isOver} onClick={again} />}
      </div>
    </div>
  );
}
