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
export function ModelErrorNote({ store }: { store: ReadonlyStore<ShelfState> }) {
  const error = useStore(store, (state) => state.error);
  return error && <ErrorNote error={error} />;
}

/** An error and how to solve it. @param more another sentence */
export function ErrorNote({ error, more = "" }: { error: ChorusErrorData; more?: string }) {
  return (
    <Callout tone="bad" title={titleOf(error)}>
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
