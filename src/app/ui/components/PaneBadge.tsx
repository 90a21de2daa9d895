import { classNames } from "../class-names.ts";
import { isOutlined, paneColorStyle } from "../pane-color.ts";

export function PaneBadge({ number, className }: { number: number; className?: string }) {
  return (
    <span className={classNames("badge", isOutlined(number) && "open", className)} style={paneColorStyle(number)}>
      {number}
    </span>
  );
}
