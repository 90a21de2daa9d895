import { useState } from "react";
import type { LinkOutcome, Serving } from "../../state/engine/serving.ts";
import { writeServing } from "../../state/settings/serving-settings.ts";
import { classNames } from "../class-names.ts";
import { Button } from "../components/Button.tsx";
import { useStore } from "../use-store.ts";
import css from "./ServingNotice.module.css";

/** A line above the panes: what became of the serving settings in the page's link. */
export function ServingNotice({ serving }: { serving: Serving }) {
  const { settings, link } = useStore(serving.store, (state) => state);
  const [dismissed, setDismissed] = useState<LinkOutcome | null>(null);
  if (link === null || link === dismissed) return null;
  const listed = Object.entries(writeServing(settings)).map(([name, value]) => `${name} ${value}`);
  return (
    <div className={classNames(css.notice, link.status === "refused" && css.warn)}>
      <output>
        {link.status === "refused"
          ? `The link's serving settings are not used. ${link.error.message}`
          : `Serving settings of this link, on this visit: ${listed.join(", ")}. All chats are kept.`}
      </output>
      <Button look="quiet" onClick={() => setDismissed(link)}>
        Dismiss
      </Button>
    </div>
  );
}
