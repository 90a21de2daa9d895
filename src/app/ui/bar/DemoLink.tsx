import { Icon } from "../components/Icon.tsx";

/** Leads to the demo, which shows the gain of batching in half a minute. */
export function DemoLink() {
  return (
    <a
      className="button quiet px-2 max-sm:w-(--icon-h) max-sm:p-0"
      href="#/demo"
      title="Eight questions at once, then one after the other"
    >
      <Icon name="play" />
      <span className="max-lg:sr-only">Demo</span>
    </a>
  );
}
