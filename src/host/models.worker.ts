// The entry of a worker that downloads one model. Only workers may write to the origin private file system.

import { connect } from "../protocol/connection.ts";
import { ModelsHost } from "./models-host.ts";
import { browserPlatform } from "./platforms/browser.ts";

const host = new ModelsHost(browserPlatform({ gpu: undefined }));
connect(self as unknown as Worker, Object.assign(host, { started: () => true }));
