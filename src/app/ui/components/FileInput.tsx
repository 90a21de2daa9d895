import type { ComponentProps } from "react";

interface FileInputProps extends Omit<ComponentProps<"input">, "type" | "hidden" | "onChange"> {
  readonly onFiles: (files: readonly File[]) => void;
}

/** An invisible choice of files, which a button clicks. */
export function FileInput({ onFiles, ...rest }: FileInputProps) {
  return (
    <input
      {...rest}
      type="file"
      hidden
      onChange={({ currentTarget }) => {
        const files = [...(currentTarget.files ?? [])];
        currentTarget.value = ""; // so that the same files can be chosen again
        if (files.length > 0) onFiles(files);
      }}
    />
  );
}
