import type { AppState } from "../../state/app/app-state.ts";
import { localName } from "../../state/chat/asking.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { remoteName } from "../../state/connections/connections.ts";
import { remoteChoices, writeRemote } from "../../state/connections/remote-choices.ts";
import { keyOfChoice } from "../../state/models/model-choice.ts";
import { menuItems, perform } from "../actions/actions.ts";
import { usePage } from "../app/page-context.ts";
import { Icon } from "../components/Icon.tsx";
import { Menu, type MenuItem } from "../components/Menu.tsx";
import { useStore } from "../use-store.ts";
import css from "./PaneHead.module.css";

/** Names who answers a pane, and changes it: a server's model for this pane, a model of this computer for all panes. */
export function AnswererMenu({ app, pane }: { app: AppState; pane: Pane }) {
  const page = usePage();
  const { engine, shelf, connections } = app;
  const name = useStore(pane.asking, ({ answerer }) => answerer);
  const { models } = useStore(shelf.store);
  const items = (): readonly MenuItem[] => {
    const { answerer } = pane.store.getState();
    const local = engine.choice.getState();
    const here = models.filter(
      ({ key, isEmbedded, stored }) => key !== keyOfChoice(local) && (isEmbedded || stored?.status === "whole"),
    );
    const switchAll = async (key: string) => {
      pane.answerBy(null);
      // The list says why it could not be loaded.
      if (!(await shelf.use(key))) perform("models.open", page);
    };
    return [
      {
        heading: "This pane is answered by",
        label: `${localName(engine)} (this page)`,
        isChecked: answerer === null,
        run: () => pane.answerBy(null),
      },
      ...remoteChoices(connections.store.getState().connections, answerer).map((remote) => ({
        label: remoteName(remote),
        isChecked: writeRemote(remote) === writeRemote(answerer),
        run: () => pane.answerBy(remote),
      })),
      ...here.map(({ key, title }, index) => ({
        ...(index === 0 && { heading: "All panes of this page will use" }),
        label: title,
        name: `All panes of this page will use ${title}`,
        run: () => void switchAll(key),
      })),
      ...menuItems(["models.open", "connections.open"], page, pane),
    ];
  };
  return (
    <Menu
      name={`Pane ${pane.number} is answered by ${name}`}
      look="quiet"
      className={css.answerer}
      items={items}
      onOpen={() => void shelf.refresh()}
    >
      <span className="cut">{name}</span>
      <Icon name="chevron" />
    </Menu>
  );
}
