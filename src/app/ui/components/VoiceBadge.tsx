import css from "./VoiceBadge.module.css";
import { classNames } from "../class-names.ts";
import { isOpenVoice, voiceStyle } from "../voice.ts";

/** A pane's number in its own colour. */
export function VoiceBadge({ number }: { number: number }) {
  return (
    <span className={classNames(css.badge, isOpenVoice(number) && css.open)} style={voiceStyle(number)}>
      {number}
    </span>
  );
}
