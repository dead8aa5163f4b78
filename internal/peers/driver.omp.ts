// bun driver.omp.ts PACKAGE WORK: what oh-my-pi makes of session files. PACKAGE is
// the folder of its npm package. See serve.mjs.
import { serve } from "./serve.mjs";

const [folder, work] = process.argv.slice(2);
const { SessionManager } = await import(`${folder}/src/session/session-manager.ts`);
const { convertToLlm } = await import(`${folder}/src/session/messages.ts`);
const options = { suppressBreadcrumb: true };
await serve(work, (path: string) => SessionManager.open(path, undefined, undefined, options), convertToLlm);
process.exit(0);
