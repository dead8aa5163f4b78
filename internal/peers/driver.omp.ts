// bun driver.omp.ts PACKAGE WORK: what oh-my-pi makes of session files. PACKAGE is
// the folder of its npm package. See serve.mjs.
import { serve } from "./serve.mjs";

const [folder, work] = process.argv.slice(2);
const { SessionManager } = await import(`${folder}/src/session/session-manager.ts`);
const { convertToLlm } = await import(`${folder}/src/session/messages.ts`);
const entries = await import(`${folder}/src/session/checkpoint-entries.ts`);

// rewindOf tells, as agent-session.ts does when it restores a session, whether a
// checkpoint is active on the branch or the last one was rewound.
function rewindOf(session: any) {
  let active: string | undefined;
  let completed: unknown;
  for (const entry of session.getBranch()) {
    const startedAt = entries.checkpointStartedAtFromEntry(entry);
    if (startedAt) [active, completed] = [startedAt, undefined];
    const done = entries.completedRewindFromEntry(entry);
    if (done) [active, completed] = [undefined, done.report];
  }
  return { rewind: { active, completed } };
}

const options = { suppressBreadcrumb: true };
await serve(work, (path: string) => SessionManager.open(path, undefined, undefined, options), convertToLlm, rewindOf);
process.exit(0);
