import { useState, type ReactNode } from "react";
import type { ChorusErrorData } from "../../../index.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { LinkOutcome, Serving } from "../../state/engine/serving.ts";
import { writeServing } from "../../state/settings/serving-settings.ts";
import { classNames } from "../class-names.ts";
import { Button } from "../components/Button.tsx";
import { useStore } from "../use-store.ts";
import css from "../components/Notice.module.css";

/** Lines above the panes about the serving settings in the page's link, and the draft model. */
export function ServingNotice({ serving, engine }: { serving: Serving; engine: EngineControl }) {
  const { settings, link } = useStore(serving.store, (state) => state);
  const withoutDrafts = useStore(engine.withoutDrafts, (state) => state);
  const [dismissed, setDismissed] = useState<readonly (LinkOutcome | ChorusErrorData | null)[]>([]);
  const dismiss = (what: LinkOutcome | ChorusErrorData | null) => setDismissed([...dismissed, what]);
  const listed = Object.entries(writeServing(settings)).map(([name, value]) => `${name} ${value}`);
  return (
    <>
      {link !== null && !dismissed.includes(link) && (
        <Line isWarning={link.status === "refused"} onDismiss={() => dismiss(link)}>
          {link.status === "refused"
            ? `The link's serving settings are not used. ${link.error.message}`
            : `Serving settings of this link, on this visit: ${listed.join(", ") || "the defaults"}. All chats are kept.`}
        </Line>
      )}
      {withoutDrafts !== null && !dismissed.includes(withoutDrafts) && (
        <Line isWarning onDismiss={() => dismiss(withoutDrafts)}>
          The engine runs without drafts. {withoutDrafts.message} To draft, name a model that can be loaded: Settings
          for all panes, Serving, Drafts.
        </Line>
      )}
    </>
  );
}

function Line(props: { isWarning: boolean; onDismiss: () => void; children: ReactNode }) {
  return (
    <div className={classNames(css.notice, !props.isWarning && css.plain)}>
      <output>{props.children}</output>
      <Button look="quiet" onClick={props.onDismiss}>
        Dismiss
      </Button>
    </div>
  );
}
