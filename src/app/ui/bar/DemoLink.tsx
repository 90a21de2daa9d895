import { Icon } from "../components/Icon.tsx";
import { classNames } from "../class-names.ts";
import css from "./DemoLink.module.css";

/** Leads to the demo, which shows the gain of batching in half a minute. */
export function DemoLink() {
  return (
    <a
      className={classNames("button quiet", css.demo)}
      href="#/demo"
      title="Eight questions at once, then one after the other"
    >
      <Icon name="play" />
      <span>Demo</span>
    </a>
  );
}
