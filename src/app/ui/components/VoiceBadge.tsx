import { classNames } from "../class-names.ts";
import { isOpenVoice, voiceStyle } from "../voice.ts";

/** A pane's number in its own colour. */
export function VoiceBadge({ number }: { number: number }) {
  return (
    <span className={classNames("badge", isOpenVoice(number) && "open")} style={voiceStyle(number)}>
      {number}
    </span>
  );
}
