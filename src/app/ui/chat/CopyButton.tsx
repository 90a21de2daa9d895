import { useEffect, useState } from "react";
import { IconButton } from "../components/Button.tsx";

/** How long a tick replaces the icon. */
const SHOWN_MS = 1500;

/** Copies a text and confirms it for a moment. */
export function CopyButton({ text, name }: { text: string; name: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      // The browser forbids it: nothing was copied, and the icon stays.
      () => undefined,
    );
  return (
    <IconButton
      icon={isCopied ? "tick" : "copy"}
      name={isCopied ? "Copied" : name}
      title={name}
      onClick={() => void copy()}
    />
  );
}
