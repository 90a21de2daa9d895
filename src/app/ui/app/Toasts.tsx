import { useStore } from "zustand";
import type { UndoList } from "../../state/workspace/undo-list.ts";
import { lazyComponent } from "../components/LazyComponent.tsx";

const UndoToast = lazyComponent(async () => (await import("./UndoToast.tsx")).UndoToast);

/** The place of the newest toast. It is there from the start, so that screen readers speak new toasts. */
export function Toasts({ undoList }: { undoList: UndoList }) {
  const toast = useStore(undoList.store, (state) => state.toast);
  return (
    <output className="over bottom-6 max-sm:bottom-23">
      {toast && <UndoToast undoList={undoList} toast={toast} />}
    </output>
  );
}
