// Opens a session with pi and takes the leaf's path, as pi does when it resumes, or the
// context that a model is sent there. Prints what that took, without the start of node
// and the loading of pi.
import { pathToFileURL } from "node:url";
import { measure } from "./sample.mjs";
const [module, file, mode] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(module).href);
const work = {
	branch: () => SessionManager.open(file).getBranch().length,
	context: () => SessionManager.open(file).buildSessionContext().messages.length,
};
await measure(work[mode]);
