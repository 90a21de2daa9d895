import { alertWords, type BatchAlerts } from "../../state/batch/batch-alerts.ts";
import { classNames } from "../class-names.ts";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import css from "./AlertLine.module.css";

/** A line about the batch's alerts. Screen readers read each in full. */
export function AlertLine({ alerts }: { alerts: BatchAlerts }) {
  const raised = useStore(alerts.store);
  const [newest] = raised;
  if (newest === undefined) return <p className={css.line}>No alerts</p>;
  const words = alertWords(newest);
  const all = raised.map(({ message }) => message).join(" ");
  return (
    <p className={classNames(css.line, css.raised)} title={all}>
      <Icon name="warn" />
      <span aria-hidden="true">{raised.length > 1 ? `${words}, and ${raised.length - 1} more` : words}</span>
      <span className="sr">Alerts: {all}</span>
    </p>
  );
}
