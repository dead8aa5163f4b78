// What the drivers of pi and oh-my-pi have in common: they read requests from
// stdin, one JSON object a line, and print one answer a line.
//
//   {"file", "leaves"?: [id], "positions"?: [index in the list of entries],
//    "contexts"?: [id], "here"?: bool}
//   {"file", "leaf", "ids": [id of each entry, null where it has none],
//    "path": [id], "paths": {leaf: [id]}, "labels": {id: label}, "name",
//    "cyclic": [leaf], "contexts"?: {leaf: {"messages", "llm", settings...}}}
//   {"file", "error"}
//
// Paths of positions stand under "#" and the position: the ids of version 1 are
// new at every opening, so only positions name its entries. "contexts" asks what
// the model is sent at some entries; "here" asks for the log's own leaf, and the
// answer stands under "".
import { copyFileSync, readFileSync, rmSync } from "node:fs";

// A log with a cycle makes pi's own getBranch walk for ever, so the walk is done
// here, over getEntry and parentId as in getBranch, and ends where it comes to an
// entry a second time.
function walk(session, leaf) {
  const path = [];
  const seen = new Set();
  let at = leaf ? session.getEntry(leaf) : undefined;
  while (at && !seen.has(at)) {
    seen.add(at);
    path.push(at.id ?? null);
    at = at.parentId ? session.getEntry(at.parentId) : undefined;
  }
  return { path: path.reverse(), cyclic: at !== undefined };
}

function labelsOf(session, entries) {
  const labels = {};
  for (const entry of entries) {
    const label = entry.type === "label" ? session.getLabel(entry.targetId) : undefined;
    if (label !== undefined) labels[entry.targetId] = label;
  }
  return labels;
}

function answer(session, { file, leaves = [], positions = [] }) {
  const entries = session.getEntries();
  const ids = entries.map((entry) => entry.id ?? null);
  const leaf = session.getLeafId() ?? null;
  const own = walk(session, leaf);
  const paths = {};
  const cyclic = own.cyclic ? [leaf] : [];
  const asked = [...leaves.map((id) => [id, id]), ...positions.map((n) => [`#${n}`, ids[n]])];
  for (const [name, id] of asked) {
    const found = walk(session, id);
    paths[name] = found.path;
    if (found.cyclic) cyclic.push(name);
  }
  const name = session.getSessionName() ?? "";
  return { file, leaf, ids, path: own.path, paths, labels: labelsOf(session, entries), name, cyclic };
}

// contextOf gives the messages at the leaf, as the session has them and as the
// model is sent them, and the settings; pi knows some of these, oh-my-pi others.
function contextOf(session, convert, more) {
  const built = session.buildSessionContext();
  const { messages, model, models, thinkingLevel, mode, injectedTtsrRules, serviceTier } = built;
  const { configuredThinkingLevel, modeData } = built;
  const llm = convert(messages);
  return {
    messages, llm, model, models, thinkingLevel, mode, injectedTtsrRules, serviceTier, configuredThinkingLevel, modeData,
    ...more(session),
  };
}

// Not every value that is parsed can be written again: nesting may be too deep.
function checked(make) {
  try {
    const value = make();
    JSON.stringify(value);
    return value;
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
}

// A leaf that is not known means the last entry, as in buildSessionContext.
function contextAt(session, leaf, convert, more) {
  const start = (leaf && session.getEntry(leaf)) || session.getEntries().at(-1);
  if (walk(session, start?.id).cyclic) return { error: "cyclic" };
  return checked(() => contextOf(session, convert, more));
}

// contextsOf asks for the own leaf first: branch moves it.
function contextsOf(session, { contexts = [], here = false }, convert, more) {
  const found = {};
  if (here) found[""] = contextAt(session, session.getLeafId(), convert, more);
  for (const id of contexts) {
    found[id] = checked(() => {
      session.branch(id);
      return contextAt(session, id, convert, more);
    });
  }
  return found;
}

// serve answers all requests. open(path) gives a SessionManager, convert makes of
// its messages those for the model. open gets a copy in the folder work, since
// these programs rewrite old files when they open them. more(session) may add to
// what is told of a context.
export async function serve(work, open, convert, more = () => ({})) {
  for (const line of readFileSync(0, "utf8").split("\n")) {
    if (line.trim() === "") continue;
    const request = JSON.parse(line);
    const copy = `${work}/copy.jsonl`;
    let reply;
    try {
      copyFileSync(request.file, copy);
      const session = await open(copy);
      reply = answer(session, request);
      if (request.contexts || request.here) reply.contexts = contextsOf(session, request, convert, more);
    } catch (error) {
      reply = { file: request.file, error: String(error?.message ?? error).replaceAll(copy, "FILE") };
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`);
    rmSync(copy, { force: true });
  }
}
