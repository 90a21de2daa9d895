import { useId } from "react";
import { shortAddress } from "../../remote/address.ts";
import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { remoteName } from "../../state/connections/connections.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import type { ServerSoftware } from "../../remote/server-software.ts";
import { takesField } from "../../remote/write-request.ts";
import { readRemote, remoteChoices, writeRemote } from "../../state/connections/remote-choices.ts";
import { SETTING_FIELDS } from "../../state/settings/settings.ts";
import { useStore } from "../use-store.ts";
import css from "./SettingsForm.module.css";

/** Chooses a pane's answerer: this page's engine or a server. Absent if there are no servers. */
export function AnsweredBy({ app, pane }: { app: AppState; pane: Pane }) {
  const id = useId();
  const answerer = useStore(pane.store, (state) => state.answerer);
  const servers = useStore(app.connections.store, (state) => state.connections);
  const local = useStore(app.engine.choice, labelOfChoice);
  if (servers.length === 0 && answerer === null) return null;
  const cannot = answerer === null ? [] : missingIn(app.connections.softwareOf(answerer));
  return (
    <div className={css.answerer}>
      <label htmlFor={id}>Answered by</label>
      <select
        id={id}
        aria-describedby={`${id}-help`}
        value={writeRemote(answerer)}
        onChange={(event) => pane.answerBy(readRemote(event.target.value))}
      >
        <option value="">This page ({local})</option>
        {remoteChoices(servers, answerer).map((remote) => (
          <option key={writeRemote(remote)} value={writeRemote(remote)}>
            {remoteName(remote)}
          </option>
        ))}
      </select>
      <p id={`${id}-help`} className="small">
        {answerer === null
          ? "Servers are added under Connections, behind the model's name at the top."
          : `What you ask here is sent to ${shortAddress(answerer.baseUrl)}. It doesn't show its exact prompt${cannot.length > 0 ? `, and it ignores: ${cannot.join(", ")}` : ""}.`}
      </p>
    </div>
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
