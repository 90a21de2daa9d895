import { classNames } from "../class-names.ts";
import { isOutlined, voiceStyle } from "../voice.ts";

/** A pane's number in its own colour. */
export function VoiceBadge({ number, className }: { number: number; className?: string }) {
  return (
    <span className={classNames("badge", isOutlined(number) && "open", className)} style={voiceStyle(number)}>
      {number}
    </span>
  );
}
