// What the drivers of pi and oh-my-pi have in common: they read requests from
// stdin, one JSON object a line, and print one answer a line.
//
//   {"file", "leaves"?: [id], "positions"?: [index in the list of entries]}
//   {"file", "leaf", "ids": [id of each entry, null where it has none],
//    "path": [id], "paths": {leaf: [id]}, "labels": {id: label}, "name",
//    "cyclic": [leaf]}
//   {"file", "error"}
//
// Paths of positions stand under "#" and the position: the ids of version 1 are
// new at every opening, so only positions name its entries.
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

// serve answers all requests. open(path) gives a SessionManager. It gets a copy in
// the folder work, since these programs rewrite old files when they open them.
export async function serve(work, open) {
  for (const line of readFileSync(0, "utf8").split("\n")) {
    if (line.trim() === "") continue;
    const request = JSON.parse(line);
    const copy = `${work}/copy.jsonl`;
    let reply;
    try {
      copyFileSync(request.file, copy);
      reply = answer(await open(copy), request);
    } catch (error) {
      reply = { file: request.file, error: String(error?.message ?? error).replaceAll(copy, "FILE") };
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`);
    rmSync(copy, { force: true });
  }
}
