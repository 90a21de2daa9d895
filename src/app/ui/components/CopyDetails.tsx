import { useState } from "react";
import type { ChorusErrorData } from "../../../index.ts";
import { Button } from "./Button.tsx";

/** Copies an error with its circumstances, for a report. Shows them if the browser does not allow copying. */
export function CopyDetails({ error }: { error: ChorusErrorData }) {
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  const details = [
    `Chorus: ${error.message}`,
    `Browser: ${navigator.userAgent}`,
    `navigator.gpu: ${"gpu" in navigator ? "present" : "missing"}`,
    `Secure context: ${isSecureContext ? "yes" : "no"}`,
    `Address: ${location.origin}`,
  ].join("\n");

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(details);
      setCopied("yes");
    } catch {
      setCopied("failed");
    }
  };
  return (
    <>
      <Button onClick={() => void copy()}>Copy the details</Button>
      <output>{copied === "yes" && "Copied"}</output>
      {copied === "failed" && <pre className="callout mono flex-[1_0_100%] select-all">{details}</pre>}
    </>
  );
}
