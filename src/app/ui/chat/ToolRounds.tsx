import type { FormEvent } from "react";
import { useStore } from "zustand";
import { shortAddress } from "../../remote/address.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { argumentsIn, BY_PERSON, type Call, type ToolRound } from "../../state/chat/tool-rounds.ts";
import { Button } from "../components/Button.tsx";
import { textsOf } from "../texts-of.ts";
import { AnswerText } from "./AnswerText.tsx";
import { leaving } from "./leaving.ts";
import { Reasoning } from "./Reasoning.tsx";

const REFUSED = "The person did not run this call.";

/** The calls of tools before an answer, folded; in the newest turn with buttons if they wait for a click. */
export function ToolRounds({ pane, rounds, canRun }: { pane: Pane; rounds: readonly ToolRound[]; canRun: boolean }) {
  return rounds.map(({ said, reasoning, calls }, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- rounds are only added
    <div key={index} className="stack mb-2">
      {reasoning !== undefined && <Reasoning text={reasoning} isOver />}
      {said.trim() !== "" && <AnswerText text={said} caret={null} />}
      <ul className="stack" aria-label="Calls of tools">
        {calls.map((call) => (
          <CallView key={call.id} pane={pane} call={call} isOpen={canRun && index === rounds.length - 1} />
        ))}
      </ul>
    </div>
  ));
}

function CallView({ pane, call, isOpen }: { pane: Pane; call: Call; isOpen: boolean }) {
  const { id, name, arguments: text, from, result } = call;
  const phase = useStore(pane.store, (state) => (isOpen ? state.phase : "idle"));
  const isRunning = useStore(pane.store, ({ calling }) => calling.includes(id));
  const isWaiting = isOpen && result === null && !isRunning && (phase === "idle" || phase === "calling");
  const state = result ?? (isRunning ? "Running…" : isWaiting ? "Waits for you" : isOpen ? "" : "Not run");
  const args = argumentsIn(text);
  return (
    <li className="callout">
      <details className="more">
        <summary>
          <span className="max-w-[40%] min-w-0 flex-none truncate">{name}</span>
          <code className="small min-w-0 truncate" dir="ltr">
            {text}
          </code>
          <span className="small ms-auto max-w-[40%] min-w-0 flex-none truncate" dir="auto">
            {state}
          </span>
        </summary>
        <div className="stack">
          <p className="small">Arguments{URL.canParse(from) && `, for ${shortAddress(from)}`}</p>
          <pre className="wrap-anywhere whitespace-pre-wrap [font:400_13px/20px_var(--mono)]">
            {args ? JSON.stringify(args, null, 2) : text}
          </pre>
          <p className="small">Result</p>
          <p className="wrap-anywhere whitespace-pre-wrap" dir="auto">
            {state}
          </p>
        </div>
      </details>
      {isWaiting && <CallButtons pane={pane} call={call} />}
    </li>
  );
}

function CallButtons({ pane, call }: { pane: Pane; call: Call }) {
  const { id, name, from } = call;
  const isTyped = from === BY_PERSON;
  const submit = leaving<FormEvent<HTMLFormElement>>((event) => {
    event.preventDefault();
    const { result } = textsOf(event.currentTarget);
    if (result === undefined) void pane.calls.run(id);
    else pane.calls.give(id, result);
  });
  return (
    <form className="row flex-wrap" aria-label={`Call of ${name}`} onSubmit={submit}>
      {isTyped && (
        <textarea
          name="result"
          rows={2}
          className="min-h-0 min-w-0 flex-1"
          dir="auto"
          aria-label={`What ${name} returns`}
          required
        />
      )}
      <Button type="submit" look="ink">
        {isTyped ? "Send result" : "Run"}
      </Button>
      <Button onClick={leaving(() => pane.calls.give(id, REFUSED))}>Don&rsquo;t run</Button>
      {!isTyped && (
        <Button
          look="quiet"
          title="Without a click, until this page closes"
          onClick={leaving(() => pane.calls.trust(call))}
        >
          Always run {name} in this chat
        </Button>
      )}
    </form>
  );
}
