import { useState } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { classNames } from "../class-names.ts";
import { Button } from "../components/Button.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { useStore } from "../use-store.ts";
import css from "./Explanation.module.css";
import { EXPLANATIONS, TERMS, type Term } from "./explanations.ts";
import { Picture } from "./Picture.tsx";

/** The explanation of a term: words, a small picture, its current value, and links to the other terms. */
export function Explanation({ batch, first }: { batch: Batch; first: Term }) {
  const [term, setTerm] = useState(first);
  const explanation = EXPLANATIONS[term];
  return (
    <div className={classNames("stack grow", css.explain)}>
      <h3>{explanation.title}</h3>
      <p className={css.words}>{explanation.words}</p>
      <Picture key={term} explanation={explanation} />
      <Now batch={batch} term={term} />
      <ul className={css.terms} aria-label="Explained">
        {TERMS.map((other) => (
          <li key={other}>
            <Button aria-pressed={other === term} onClick={() => setTerm(other)}>
              {EXPLANATIONS[other].title}
            </Button>
          </li>
        ))}
      </ul>
      <p className="small soft">
        <DocsLink page="how-it-works">How it works</DocsLink> has all of it on one page,{" "}
        <DocsLink page="tuning">Tuning</DocsLink> which setting is for which load.
      </p>
    </div>
  );
}

function Now({ batch, term }: { batch: Batch; term: Term }) {
  const figures = useStore(batch.metrics.store);
  const mode = useStore(batch.mode.store);
  const modeWords = term === mode ? "The engine uses this mode now." : `Now the engine's mode is ${mode}.`;
  return <p className="small">{EXPLANATIONS[term].now?.(figures) ?? modeWords}</p>;
}
