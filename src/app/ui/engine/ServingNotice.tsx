import { useState } from "react";
import type { ChorusErrorData } from "../../../index.ts";
import { isOfDtype, type EngineControl } from "../../state/engine/engine-control.ts";
import type { LinkOutcome, Serving } from "../../state/engine/serving.ts";
import { writeServing } from "../../state/settings/serving-settings.ts";
import { Notice } from "../components/Notice.tsx";
import { useStore } from "../use-store.ts";

/** Lines above the panes about the serving settings in the page's link, and what the engine was started without. */
export function ServingNotice({ serving, engine }: { serving: Serving; engine: EngineControl }) {
  const { settings, link } = useStore(serving.store);
  const leftOut = useStore(engine.leftOut);
  const [dismissed, setDismissed] = useState<readonly (LinkOutcome | ChorusErrorData | null)[]>([]);
  const dismiss = (what: LinkOutcome | ChorusErrorData | null) => setDismissed([...dismissed, what]);
  const listed = Object.entries(writeServing(settings)).map(([name, value]) => `${name} ${value}`);
  return (
    <>
      {link !== null && !dismissed.includes(link) && (
        <Notice
          isMild={link.status !== "refused"}
          onDismiss={() => dismiss(link)}
          words={
            link.status === "refused"
              ? `The link's serving settings are not used. ${link.error.message}`
              : `Serving settings of this link, on this visit: ${listed.join(", ") || "the defaults"}. All chats are kept.`
          }
        />
      )}
      {leftOut !== null && !dismissed.includes(leftOut) && (
        <Notice
          onDismiss={() => dismiss(leftOut)}
          words={
            isOfDtype(leftOut)
              ? `The weights have the format of their file. ${leftOut.message}`
              : `The engine runs without drafts. ${leftOut.message} To draft, name a model that can be loaded: Drafts, on the page Serving.`
          }
        />
      )}
    </>
  );
}
