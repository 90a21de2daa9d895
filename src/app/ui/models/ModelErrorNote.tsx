import type { ChorusErrorData } from "../../../index.ts";
import type { ShelfState } from "../../state/models/model-shelf.ts";
import { titleOf } from "../../state/chat/note.ts";
import type { ReadonlyStore } from "../../state/store.ts";
import { Button } from "../components/Button.tsx";
import { Callout } from "../components/Callout.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { useStore } from "../use-store.ts";
import { focusToken } from "./AddModel.tsx";
import { withoutAddresses } from "./without-addresses.ts";

/** Shows an error that belongs to no model in the list. */
export function ModelErrorNote({ store, className }: { store: ReadonlyStore<ShelfState>; className?: string }) {
  const error = useStore(store, (state) => state.error);
  return error && <ErrorNote error={error} className={className} />;
}

interface ErrorNoteProps {
  readonly error: ChorusErrorData;
  /** Another sentence. */
  readonly more?: string;
  readonly className?: string | undefined;
}

/** An error and how to solve it. */
export function ErrorNote({ error, more = "", className }: ErrorNoteProps) {
  return (
    <Callout tone="bad" className={className} title={titleOf(error)}>
      <p title={error.message}>
        {withoutAddresses(error.message)} {more}{" "}
        {error.code === "model_access_denied" && <Button onClick={focusToken}>Give a token</Button>}{" "}
        <DocsLink page="troubleshooting" at={error.code}>
          About this error
        </DocsLink>
      </p>
    </Callout>
  );
}
