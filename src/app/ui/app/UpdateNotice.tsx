import { useState } from "react";
import { useStore } from "zustand";
import type { AppUpdates } from "../../state/app/app-updates.ts";
import { Button } from "../components/Button.tsx";

/** Reports a newer version. The person decides when to reload, since answers may be in progress. */
export function UpdateNotice({ updates }: { updates: AppUpdates }) {
  const isThere = useStore(updates.store);
  const [isLater, setIsLater] = useState(false);
  return (
    <output className="over top-[calc(var(--bar-h)+8px)]">
      {isThere && !isLater && (
        <div className="float row toast flex-wrap">
          <p>A new version of Chorus is available.</p>
          <Button onClick={() => location.reload()}>Reload to update</Button>
          <Button look="quiet" onClick={() => setIsLater(true)}>
            Later
          </Button>
        </div>
      )}
    </output>
  );
}
