import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import type { Turn } from "../../state/chat/conversation.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Button } from "../components/Button.tsx";
import { MessageBox } from "../components/MessageBox.tsx";
import { focusMessageOf } from "./Composer.tsx";

interface QuestionEditorProps {
  pane: Pane;
  turn: Turn;
  isNewest: boolean;
  onDone: () => void;
}

export function QuestionEditor({ pane, turn, isNewest, onDone }: QuestionEditorProps) {
  const [text, setText] = useState(turn.question);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    box.current?.select();
  }, []);

  const done = () => {
    onDone();
    focusMessageOf(pane);
  };
  const ask = () => {
    if (pane.edit(turn.id, text)) done();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation(); // else it would stop the pane's answer too
    done();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className="-mx-2.25 -mt-1 mb-3" onKeyDown={onKeyDown}>
      <MessageBox
        box={box}
        label="Edit question"
        value={text}
        onChange={setText}
        onEnter={ask}
        className="font-semibold"
      />
      <div className="row mt-1 gap-1">
        {!isNewest && <p className="small min-h-0 min-w-0 flex-1 pl-2.25">What follows stays as a variant.</p>}
        <Button look="quiet" className="ms-auto" onClick={done}>
          Cancel
        </Button>
        <Button look="ink" onClick={ask}>
          Ask again
        </Button>
      </div>
    </div>
  );
}
