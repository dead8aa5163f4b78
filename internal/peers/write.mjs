// node write.mjs PACKAGE, bun write.mjs PACKAGE: has pi or oh-my-pi write to session
// files. It reads requests from stdin, one JSON object a line, and prints an answer
// for each.
//
//   {"file"?, "dir"?, "steps": [[step, argument...]]}
//   {"file", "ids": [id that each step returned, "" where none], "leaf", "error"?}
//
// Without a file the program makes one of its own in dir. In arguments "#N" stands
// for the id of the entry at that place, and "=N" for what step N returned.
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const isOmp = existsSync(`${folder}/src/session/session-manager.ts`);
const entry = isOmp ? "src/session/session-manager.ts" : "dist/index.js";
const { SessionManager } = await import(pathToFileURL(`${folder}/${entry}`).href);

let clock = Date.UTC(2026, 0, 5, 9);
const usage = { input: 9, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 11, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const block = (text) => [{ type: "text", text }];

// What a step does with the session, by its name.
const steps = {
  user: (s, text) => s.appendMessage({ role: "user", content: block(text), timestamp: (clock += 1000) }),
  assistant: (s, text) =>
    s.appendMessage({
      role: "assistant", content: block(text), api: "anthropic-messages", provider: "acme", model: "large", usage,
      stopReason: "stop", timestamp: (clock += 1000),
    }),
  branch: (s, id) => s.branch(id),
  summary: (s, id, text) => s.branchWithSummary(id, text),
  label: (s, id, label) => s.appendLabelChange(id, label),
  custom: (s, type) => s.appendCustomEntry(type, { n: 1 }),
  name: (s, name) => (isOmp ? s.setSessionName(name, "user") : s.appendSessionInfo(name)),
  autoname: (s, name) => s.setSessionName(name, "auto"), // oh-my-pi's own idea of a title
  rewrite: (s) => s.rewriteEntries(), // what oh-my-pi does when it prunes
  discard: (s, id) => s.discardEntryDurably(id),
};

async function answer({ file, dir, steps: list }) {
  const open = isOmp ? (f) => SessionManager.open(f, undefined, undefined, { suppressBreadcrumb: true }) : SessionManager.open;
  const s = file ? await open(file) : SessionManager.create(dir, dir);
  const ids = [];
  const entries = s.getEntries().map((e) => e.id);
  const resolve = (a) => (/^#\d+$/.test(a) ? entries[+a.slice(1)] : /^=\d+$/.test(a) ? ids[+a.slice(1)] : a);
  for (const [name, ...args] of list) {
    const id = await steps[name](s, ...args.map(resolve));
    ids.push(typeof id === "string" ? id : "");
  }
  await s.flush?.();
  await s.close?.();
  return { file: s.getSessionFile(), ids, leaf: s.getLeafId() ?? "" };
}

for (const line of readFileSync(0, "utf8").split("\n")) {
  if (line.trim() === "") continue;
  let reply;
  try {
    reply = await answer(JSON.parse(line));
  } catch (error) {
    reply = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
process.exit(0);
