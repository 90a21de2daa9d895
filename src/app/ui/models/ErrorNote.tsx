import type { ChorusErrorData } from "../../../index.ts";
import { titleOf } from "../../state/chat/note.ts";
import { Button } from "../components/Button.tsx";
import { Callout } from "../components/Callout.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { focusToken } from "./AddModel.tsx";
import { withoutAddresses } from "./without-addresses.ts";

interface ErrorNoteProps {
  readonly error: ChorusErrorData;
  readonly more?: string;
  readonly className?: string | undefined;
}

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
