import { useState } from "react";
import { useStore } from "zustand";
import { isOfDtype, type EngineControl } from "../../state/engine/engine-control.ts";
import type { EngineTabs } from "../../state/engine/engine-tabs.ts";
import { gpuNoticeOf } from "../../state/engine/gpu-notice.ts";
import { isNewNotice, remember, remembered } from "../../state/remembered.ts";
import { writeServing } from "../../state/settings/serving-settings.ts";
import type { SavingStatus, ChatSaver } from "../../state/workspace/chat-saver.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";
import { useApp } from "./page-context.ts";
import { Button } from "../components/Button.tsx";
import { Notice } from "../components/Notice.tsx";
import { memoryWords } from "../engine/memory-words.ts";
import { saveAllChats, saveDamaged } from "../save-chats.ts";

/** The lines above the panes: about the GPU, the page's link, what the engine lacks, the chats' saving and the tabs' memory. */
export function Notices() {
  const { engine, serving, saver, tabs, workspace } = useApp();
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const missing = useStore(engine.withoutGpu);
  const leftOut = useStore(engine.leftOut);
  const { settings, link } = useStore(serving.store);
  const [dismissed, setDismissed] = useState<readonly unknown[]>([]);
  /** @param subject once it was dismissed, it is not shown again */
  const line = (subject: object | null, words: () => string, isMild = false) =>
    subject !== null &&
    !dismissed.includes(subject) && (
      <Notice isMild={isMild} words={words()} onDismiss={() => setDismissed([...dismissed, subject])} />
    );
  const asked = Object.entries(writeServing(settings)).map(([name, value]) => `${name} ${value}`);
  const gpu = model && gpuNoticeOf(model);
  return (
    <>
      {model && line(missing, () => `The GPU is not used. ${missing?.message}`)}
      {model && missing === null && <GpuNotice key={gpu} notice={gpu} />}
      {line(
        link,
        () =>
          link?.status === "refused"
            ? `The link's serving settings are not used. ${link.error.message}`
            : `Serving settings of this link, on this visit: ${asked.join(", ") || "the defaults"}. All chats are kept.`,
        link?.status === "applied",
      )}
      {leftOut &&
        line(leftOut, () =>
          isOfDtype(leftOut)
            ? `The weights have the format of their file. ${leftOut.message}`
            : `The engine runs without drafts. ${leftOut.message} To draft, name a model that can be loaded: Drafts, on the page Serving.`,
        )}
      {saver && <SavingNotice saver={saver} workspace={workspace} />}
      {tabs && <MemoryNotice engine={engine} tabs={tabs} />}
    </>
  );
}

/** It is said once, and whenever somebody chooses the GPU; after that the list of what computes has it. */
function GpuNotice({ notice }: { notice: string | null }) {
  const [isShown, setShown] = useState(() => isNewNotice("gpu-notice", notice));
  return isShown && <Notice words={notice} onDismiss={() => setShown(false)} />;
}

const SAVING: Record<SavingStatus, string> = {
  saved: "",
  damaged: "Your earlier chats could not be read. They are kept as they are; new chats are saved.",
  unsaved:
    "Not saved: this browser doesn't let the page save its chats, or it has no space left. Chorus keeps trying. Until it succeeds, the chats last only as long as this page.",
};

function SavingNotice({ saver, workspace }: { saver: ChatSaver; workspace: Workspace }) {
  const status = useStore(saver.store);
  if (status === "saved") return null;
  return (
    <Notice words={SAVING[status]}>
      {status === "damaged" && <Button onClick={() => void saveDamaged(saver.storage)}>Save them to a file</Button>}
      {status === "unsaved" && <Button onClick={() => void saveAllChats({ workspace })}>Export the chats</Button>}
    </Notice>
  );
}

/** While several tabs have an engine of their own: their memory, and how to share one. */
function MemoryNotice({ engine, tabs }: { engine: EngineControl; tabs: EngineTabs }) {
  const words = memoryWords(useStore(tabs.store));
  const isShared = useStore(engine.chosen, (choice) => choice.isShared);
  const [isHidden, setHidden] = useState(() => remembered("memory-notice") === "hidden");
  if (words === null || isHidden) return null;
  const hide = () => {
    remember("memory-notice", "hidden");
    setHidden(true);
  };
  return (
    <Notice words={words} onDismiss={hide}>
      {tabs.canShare && !isShared && <Button onClick={() => void engine.share(true)}>Share one</Button>}
    </Notice>
  );
}
