// Opens a session with pi and takes the leaf's path, as pi does when it resumes.
// Prints what that took, without the start of node and the loading of pi.
import { pathToFileURL } from "node:url";
const [module, file] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(module).href);
const start = performance.now();
const result = SessionManager.open(file).getBranch().length;
const ns = Math.round((performance.now() - start) * 1e6);
console.log(JSON.stringify({ ns, peak: process.resourceUsage().maxRSS * 1024, result }));
