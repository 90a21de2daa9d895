import type { AppState } from "../../state/app/app-state.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import css from "./DemoButton.module.css";

/** Starts the demo, which shows the gain of batching in half a minute. */
export function DemoButton({ app }: { app: AppState }) {
  const isReady = useStore(app.engine.store, (state) => state.status === "ready");
  const isOpen = useStore(app.demo.store, (state) => state.phase !== "closed");
  return (
    <Button
      look="quiet"
      className={css.demo}
      disabled={!isReady || isOpen}
      title="Eight questions at once, then one after the other"
      onClick={() => void app.demo.start()}
    >
      <Icon name="play" />
      <span>Demo</span>
    </Button>
  );
}
