import { classNames } from "../class-names.ts";
import { isOutlined, voiceStyle } from "../voice.ts";

/** A pane's number in its own colour. */
export function VoiceBadge({ number }: { number: number }) {
  return (
    <span className={classNames("badge", isOutlined(number) && "open")} style={voiceStyle(number)}>
      {number}
    </span>
  );
}
