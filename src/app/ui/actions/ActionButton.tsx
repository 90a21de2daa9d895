import type { ComponentProps } from "react";
import { usePage } from "../app/page-context.ts";
import { IconButton } from "../components/Button.tsx";
import { perform, type ActionId } from "./actions.ts";

interface ActionButtonProps extends Omit<ComponentProps<typeof IconButton>, "onClick"> {
  readonly action: ActionId;
}

export function ActionButton({ action, ...rest }: ActionButtonProps) {
  const page = usePage();
  return <IconButton {...rest} onClick={() => perform(action, page)} />;
}

export function HelpButton() {
  return (
    <ActionButton
      action="help.open"
      icon="help"
      name="Help"
      title="About Chorus, keys, documents"
      aria-haspopup="dialog"
    />
  );
}
