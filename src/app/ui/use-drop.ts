import { useState, type DragEvent } from "react";

/** Returns the handlers of a place where data of a type can be dropped, and whether such is over it. [files] */
export function useDrop(take: (data: DataTransfer) => void, type = "Files") {
  const [isOver, setOver] = useState(false);
  const isTaken = (event: DragEvent) => event.dataTransfer.types.includes(type);

  const onDragOver = (event: DragEvent) => {
    if (!isTaken(event)) return;
    event.preventDefault(); // allows the drop
    setOver(true);
  };
  const onDragLeave = (event: DragEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
  };
  const onDrop = (event: DragEvent) => {
    setOver(false);
    if (!isTaken(event)) return;
    event.preventDefault();
    take(event.dataTransfer);
  };
  return { isOver, handlers: { onDragOver, onDragLeave, onDrop } };
}
