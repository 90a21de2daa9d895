import type { AppState } from "../../state/app/app-state.ts";
import { Icon } from "../components/Icon.tsx";
import { lazily } from "../components/Lazily.tsx";
import { Sheet } from "../components/Sheet.tsx";

const AppSettingsBody = lazily(async () => (await import("./AppSettingsBody.tsx")).AppSettingsBody);

const OPEN = {
  id: "settings.open",
  title: "Settings for all panes",
  group: "Chats",
  words:
    "temperature system prompt sampling seed preset import export options preferences serving batching policy queue cache drafts alerts thresholds",
} as const;

/** The settings for all panes, and the chats as files. */
export function AppSettings({ app }: { app: AppState }) {
  return (
    <Sheet name="Settings for all panes" button={<Icon name="settings" />} command={OPEN} commands={app.commands}>
      <AppSettingsBody app={app} />
    </Sheet>
  );
}
