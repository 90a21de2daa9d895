import { useState } from "react";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { EngineTabs } from "../../state/engine/engine-tabs.ts";
import { remember, remembered } from "../../state/remembered.ts";
import { Button } from "../components/Button.tsx";
import { Notice } from "../components/Notice.tsx";
import { memoryWords } from "../engine/memory-words.ts";
import { useStore } from "../use-store.ts";

const NAME = "memory-notice";

/** A line above the panes while several tabs have an engine of their own: their memory, and how to share one. */
export function MemoryNotice({ engine, tabs }: { engine: EngineControl; tabs: EngineTabs }) {
  const words = memoryWords(useStore(tabs.store));
  const isShared = useStore(engine.isShared);
  const [isHidden, setIsHidden] = useState(() => remembered(NAME) === "hidden");
  if (words === null || isHidden) return null;
  const hide = () => {
    remember(NAME, "hidden");
    setIsHidden(true);
  };
  return (
    <Notice words={words} onDismiss={hide}>
      {tabs.canShare && !isShared && <Button onClick={() => void engine.share(true)}>Share one</Button>}
    </Notice>
  );
}
