import type { UndoList } from "../../state/workspace/undo-list.ts";
import { lazily } from "../components/Lazily.tsx";
import { useStore } from "../use-store.ts";

const UndoToast = lazily(async () => (await import("./UndoToast.tsx")).UndoToast);

/** The place of the newest toast. It is there from the start, so that screen readers speak new toasts. */
export function Toasts({ undoList }: { undoList: UndoList }) {
  const toast = useStore(undoList.store, (state) => state.toast);
  return (
    <output className="over bottom-6 max-sm:bottom-23">
      {toast && <UndoToast undoList={undoList} toast={toast} />}
    </output>
  );
}
