import type { Plugin } from "vite";

/**
 * Vite's preview compresses whatever is requested. On one machine that costs more than it saves, and a file's length is not known,
 * without which there is no progress to show.
 */
export function plainPreview(): Plugin {
  return {
    name: "plain-preview",
    configurePreviewServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        delete request.headers["accept-encoding"];
        next();
      });
    },
  };
}
