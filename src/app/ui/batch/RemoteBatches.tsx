import type { Connections } from "../../state/connections/connections.ts";
import type { RemoteBatch } from "../../state/connections/remote-batches.ts";
import { formatCount, formatRate } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./RemoteBatches.module.css";

/** The batches of the servers that answer panes, a line each. */
export function RemoteBatches({ connections }: { connections: Connections }) {
  const batches = useStore(connections.batches.store, (state) => state);
  if (batches.length === 0) return null;
  return (
    <ul className={css.list} aria-label="Servers">
      {batches.map((batch) => (
        <Server key={batch.baseUrl} batch={batch} />
      ))}
    </ul>
  );
}

function Server({ batch }: { batch: RemoteBatch }) {
  const { baseUrl, server, serverTokensPerSecond, ownOpen, ownTokensPerSecond, isBlind } = batch;
  return (
    <li className={css.server}>
      <b>{new URL(baseUrl).host}</b>
      {server === null ? (
        <>
          <Figure name="Answers" value={formatCount(ownOpen)} />
          <Figure name="Tokens/s" value={formatRate(ownTokensPerSecond)} />
          <span>{isBlind ? "Measured in this page: its /metrics can't be read" : "Measured in this page"}</span>
        </>
      ) : (
        <>
          <Figure name="Running" value={countOf(server.running)} />
          <Figure name="Waiting" value={countOf(server.waiting)} />
          <Figure name="KV use" value={percentOf(server.kvUse)} />
          <Figure name="Prefix hits" value={percentOf(server.prefixHits)} />
          <Figure name="Tokens/s" value={serverTokensPerSecond === null ? "–" : formatRate(serverTokensPerSecond)} />
          <span>From its /metrics: everybody&rsquo;s requests</span>
        </>
      )}
    </li>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <span className={css.figure}>
      {name} <em>{value}</em>
    </span>
  );
}

const countOf = (value: number | null) => (value === null ? "–" : formatCount(value));
const percentOf = (share: number | null) => (share === null ? "–" : `${Math.round(share * 100)}%`);
