import { classNames } from "../class-names.ts";
import { alertWords, type BatchAlerts } from "../../state/batch/batch-alerts.ts";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";

/** As wide as its text, over two lines if that is long: the counters keep the rest. On a phone it is always there: nothing below moves. */
const LINE = "row small max-w-47 gap-1.5 px-2 max-md:max-w-39 max-sm:h-6 max-sm:max-w-full max-sm:p-0";

/** A line about the batch's alerts. Screen readers read each in full. */
export function AlertLine({ alerts }: { alerts: BatchAlerts }) {
  const raised = useStore(alerts.store);
  const [newest] = raised;
  if (newest === undefined) return <p className={LINE}>No alerts</p>;
  const words = alertWords(newest);
  const all = raised.map(({ message }) => message).join(" ");
  return (
    <p className={classNames(LINE, "text-warn")} title={all}>
      <Icon name="warn" />
      <span aria-hidden="true" className="line-clamp-2 leading-3.75 text-balance whitespace-normal max-sm:line-clamp-1">
        {raised.length > 1 ? `${words}, and ${raised.length - 1} more` : words}
      </span>
      <span className="sr-only">Alerts: {all}</span>
    </p>
  );
}
