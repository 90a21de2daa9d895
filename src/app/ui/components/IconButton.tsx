import type { ComponentProps } from "react";
import { Button } from "./Button.tsx";
import { Icon, type IconName } from "./Icon.tsx";

interface IconButtonProps extends Omit<ComponentProps<typeof Button>, "look" | "children" | "name"> {
  readonly icon: IconName;
  /** Its accessible name. */
  readonly name: string;
  /** [the name] */
  readonly title?: string | undefined;
}

/** A square button with an icon only. */
export function IconButton({ icon, name, title = name, ...rest }: IconButtonProps) {
  return (
    <Button {...rest} look="icon" aria-label={name} title={title}>
      <Icon name={icon} />
    </Button>
  );
}
