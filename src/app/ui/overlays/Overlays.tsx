import { useShortcuts } from "../actions/use-shortcuts.ts";
import { usePage } from "../app/page-context.ts";
import { Dialog } from "../components/Dialog.tsx";
import { useStore } from "../use-store.ts";
import { DIALOGS, type DialogKind, type Kind, type RequestFor, type Subjects } from "./Dialogs.tsx";

/** Shows the page's open dialog, and opens others by their keys. */
export function Overlays() {
  const page = usePage();
  const { overlay } = page;
  useShortcuts(page);
  const opened = useStore(overlay.store);
  return (
    opened && <RequestedDialog key={opened.number} request={opened.request} onClosed={() => overlay.close(opened)} />
  );
}

function RequestedDialog<One extends Kind>({ request, onClosed }: { request: RequestFor<One>; onClosed: () => void }) {
  const { openChats } = usePage();
  const { name, title, beside, widthPx, render }: DialogKind<Subjects[One]> = DIALOGS[request.kind];
  return (
    <Dialog
      kind={request.kind}
      name={name(request)}
      title={title?.(request)}
      widthPx={widthPx}
      beside={beside?.(request)}
      onClosed={onClosed}
    >
      {(close) => render(request, close, openChats)}
    </Dialog>
  );
}
