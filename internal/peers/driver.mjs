// node driver.mjs PACKAGE WORK: what pi makes of session files. PACKAGE is the
// folder of pi's npm package, of 1.6.0 or 0.73.1. See serve.mjs.
import { pathToFileURL } from "node:url";
import { serve } from "./serve.mjs";

const [folder, work] = process.argv.slice(2);
const { SessionManager, convertToLlm } = await import(pathToFileURL(`${folder}/dist/index.js`).href);
await serve(work, (path) => SessionManager.open(path), convertToLlm);
process.exit(0);
