// The entry of a worker that downloads one model. Only workers may write to the origin private file system.

import * as Comlink from "comlink";

import { announced, prepareComlink } from "../protocol/announced-endpoint.ts";
import { ModelsHost } from "./models-host.ts";
import { browserPlatform } from "./platforms/browser.ts";

prepareComlink(Comlink);
const host = new ModelsHost(browserPlatform({ gpu: undefined }));
Comlink.expose(Object.assign(host, { started: () => true }), announced(self as unknown as Worker));
