import { lazy, Suspense, type ComponentType } from "react";

/** Returns a component that loads its code when it is first rendered, and renders nothing until then. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Loaded = lazy(async () => ({ default: await load().catch(() => NotLoaded as ComponentType<Props>) }));
  return function Lazily(props: Props) {
    return (
      <Suspense>
        <Loaded {...props} />
      </Suspense>
    );
  };
}

function NotLoaded() {
  return <p role="alert">This part of the page could not be loaded. Reload the page when the network is back.</p>;
}
