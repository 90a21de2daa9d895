import { useId } from "react";
import { remoteName, type Connections } from "../../state/connections/connections.ts";
import { MAX_LIMIT_S } from "../../state/connections/saved-connections.ts";
import { readRemote, remoteChoices, writeRemote } from "../../state/connections/remote-choices.ts";
import { useStore } from "../use-store.ts";

const DEFAULT_LIMIT_S = 10;

/** Chooses where new questions go when this page's own queue is long. */
export function SpillOverForm({ connections }: { connections: Connections }) {
  const id = useId();
  const { connections: servers, spillOver } = useStore(connections.store);
  const choices = remoteChoices(servers, spillOver);
  const choose = (text: string) => {
    const remote = readRemote(text);
    connections.spillTo(remote && { ...remote, limitS: spillOver?.limitS ?? DEFAULT_LIMIT_S });
  };
  return (
    <div className="stack content-start gap-2">
      <label className="font-semibold" htmlFor={id}>
        When this page&rsquo;s queue is long
      </label>
      <select id={id} value={writeRemote(spillOver)} onChange={(event) => choose(event.target.value)}>
        <option value="">Wait for this page&rsquo;s engine</option>
        {choices.map((remote) => (
          <option key={writeRemote(remote)} value={writeRemote(remote)}>
            Send new questions to {remoteName(remote)}
          </option>
        ))}
      </select>
      {spillOver !== null && (
        <label className="row min-h-7 text-ink-2">
          from a wait of
          <input
            type="number"
            className="w-20"
            min={0}
            max={MAX_LIMIT_S}
            value={spillOver.limitS}
            onChange={({ target }) => {
              const limitS = target.valueAsNumber;
              if (Number.isInteger(limitS) && target.validity.valid) connections.spillTo({ ...spillOver, limitS });
            }}
          />
          seconds on
        </label>
      )}
    </div>
  );
}
