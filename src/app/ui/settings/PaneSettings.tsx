import { useStore } from "zustand";
import type { Pane } from "../../state/chat/pane.ts";
import { useApp } from "../app/page-context.ts";
import { SettingsForm } from "./SettingsForm.tsx";
import { shortAddress } from "../../remote/address.ts";
import type { ServerSoftware } from "../../remote/server-software.ts";
import { takesField } from "../../remote/write-request.ts";
import { SETTING_FIELDS } from "../../state/settings/settings.ts";

export function PaneSettings({ pane }: { pane: Pane }) {
  const { settings, addressSettings } = useApp();
  const values = useStore(pane.store, (state) => state.settings);
  const { engine, isRemote } = useStore(pane.asking);
  return (
    <>
      <AnsweredBy pane={pane} />
      <SettingsForm
        values={values}
        inherited={{ ...settings.getState(), ...addressSettings }}
        source="all panes"
        model={isRemote || engine === null ? null : engine.model}
        onSet={(name, value) => pane.set(name, value)}
        onReplace={(replaced) => pane.replaceSettings(replaced)}
      />
    </>
  );
}

/** Says where a pane's questions go, and what is ignored there. Absent if this page's engine answers. */
function AnsweredBy({ pane }: { pane: Pane }) {
  const { connections } = useApp();
  const answerer = useStore(pane.store, (state) => state.answerer);
  useStore(connections.store);
  if (answerer === null) return null;
  const cannot = missingIn(connections.softwareOf(answerer));
  return (
    <p className="small mb-3">
      {answerer.model} answers. What you ask here is sent to {shortAddress(answerer.baseUrl)}. It doesn&rsquo;t show its
      exact prompt{cannot.length > 0 && `, and it ignores: ${cannot.join(", ")}`}.
    </p>
  );
}

/** Returns the features of this page's engine that the server lacks. */
function missingIn(software: ServerSoftware): readonly string[] {
  return [
    ...SETTING_FIELDS.filter(({ name, isRewritten }) => !isRewritten && !takesField(software, name)).map(
      ({ label, called = label.toLowerCase() }) => called,
    ),
    ...(software.continues === null ? ["continuing an answer"] : []),
  ];
}
