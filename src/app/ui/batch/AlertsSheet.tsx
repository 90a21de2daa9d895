import { useId, useState } from "react";
import {
  alertWords,
  readThreshold,
  THRESHOLD_FIELDS,
  type BatchAlerts,
  type SeenAlert,
  type ThresholdField,
} from "../../state/batch/batch-alerts.ts";
import type { Commands } from "../../state/commands/commands.ts";
import { Icon } from "../components/Icon.tsx";
import { Sheet } from "../components/Sheet.tsx";
import { useStore } from "../use-store.ts";
import css from "./AlertsSheet.module.css";

const OPEN = {
  id: "batch.alerts",
  title: "Alerts and their thresholds",
  group: "Batch",
  words: "warning queue latency slots failed limits",
} as const;

/** A line about the batch's alerts, and the list and thresholds that it opens. */
export function AlertsSheet({ alerts, commands }: { alerts: BatchAlerts; commands: Commands }) {
  const raised = useStore(alerts.store, (state) => state.raised);
  const [newest] = raised;
  const words = newest === undefined ? "No alerts" : alertWords(newest);
  const line = raised.length > 1 ? `${words}, and ${raised.length - 1} more` : words;
  const button = (
    <span className={newest ? css.raised : css.none}>
      {newest && <Icon name="warn" />}
      <span>{line}</span>
    </span>
  );
  return (
    <Sheet
      name="Alerts"
      button={button}
      buttonName={`Alerts: ${line}`}
      look="quiet"
      className={css.line}
      command={OPEN}
      commands={commands}
    >
      <div className={css.sheet}>
        <AlertLists alerts={alerts} />
        <section aria-label="Thresholds" className={css.thresholds}>
          <h3>Thresholds</h3>
          <p className={css.hint}>They take effect at once. An empty box uses the default.</p>
          {THRESHOLD_FIELDS.map((field) => (
            <ThresholdRow key={field.name} field={field} alerts={alerts} />
          ))}
          <p className={css.hint}>4 steps: four times this adapter's own step time, at least 50 ms.</p>
        </section>
      </div>
    </Sheet>
  );
}

function AlertLists({ alerts }: { alerts: BatchAlerts }) {
  const { raised, resolved } = useStore(alerts.store, (state) => state);
  return (
    <>
      {raised.length === 0 && <p className={css.hint}>No threshold is crossed now.</p>}
      {raised.length > 0 && <AlertList name="Now" alerts={raised} />}
      {resolved.length > 0 && <AlertList name="Earlier" alerts={resolved} />}
    </>
  );
}

function AlertList({ name, alerts }: { name: string; alerts: readonly SeenAlert[] }) {
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <ul className={css.list}>
        {alerts.map((alert) => (
          <li key={`${alert.name} ${alert.atMs}`}>
            <time>{new Date(alert.seenAtMs).toLocaleTimeString()}</time>
            <p>{alert.message}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ThresholdRow({ field, alerts }: { field: ThresholdField; alerts: BatchAlerts }) {
  const { name, label, unit, defaultText, perUnit } = field;
  const id = useId();
  const value = useStore(alerts.thresholds, (state) => state[name]);
  const inUse = typeof value === "number" ? String(+(value / perUnit).toFixed(6)) : "";
  const [ownText, setTyped] = useState(inUse);
  const isOff = value === null;
  const read = readThreshold(field, ownText);
  const isWrong = !isOff && read === null;
  // Another tab may have set another threshold meanwhile.
  const typed = isOff || isWrong || read === value ? ownText : inUse;

  const type = (text: string) => {
    setTyped(text);
    const next = readThreshold(field, text);
    if (next !== null) alerts.set(name, next);
  };
  return (
    <div className={css.row}>
      <label htmlFor={id}>{label}</label>
      <span className={css.value}>
        <input
          id={id}
          value={typed}
          placeholder={defaultText}
          inputMode="decimal"
          autoComplete="off"
          disabled={isOff}
          aria-invalid={isWrong}
          onChange={(event) => type(event.target.value)}
        />
        {unit}
      </span>
      <label className={css.switch}>
        <input
          type="checkbox"
          checked={!isOff}
          aria-label={`${label}: on`}
          onChange={({ target }) =>
            alerts.set(name, target.checked ? (readThreshold(field, typed) ?? undefined) : null)
          }
        />
        on
      </label>
    </div>
  );
}
