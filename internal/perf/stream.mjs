// Builds the context of a log's last entry as a careful program in JavaScript would that
// has to read logs of any size: it parses every line in a stream, keeps where each entry
// stands and what it is, and reads the entries of the context once more. Prints what that
// took, without the start of node.
import { closeSync, createReadStream, openSync, readSync } from "node:fs";
import { measure } from "./sample.mjs";
const file = process.argv[3]; // behind pi's module, which is not used
const newline = 10;

const entries = new Map();
let last; // the last entry

// Only names and ids are kept of what is parsed here: decoding as Latin-1 is quicker, and
// leaves ASCII and the structure of JSON as they are.
function take(bytes, offset) {
	let value;
	try {
		value = JSON.parse(bytes.latin1Slice());
	} catch {
		return; // pi skips such lines too
	}
	if (value.type === "session") return;
	last = {
		id: value.id,
		parentId: value.parentId,
		type: value.type,
		firstKept: value.firstKeptEntryId,
		offset,
		length: bytes.length,
	};
	entries.set(last.id, last);
}

async function index() {
	let begun = []; // pieces of a line that goes on in the next chunk
	let offset = 0; // of the line
	for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
		let from = 0;
		for (let end; (end = chunk.indexOf(newline, from)) >= 0; from = end + 1) {
			let line = chunk.subarray(from, end);
			if (begun.length > 0) {
				line = Buffer.concat([...begun, line]);
				begun = [];
			}
			take(line, offset);
			offset += line.length + 1;
		}
		if (from < chunk.length) begun.push(chunk.subarray(from));
	}
	if (begun.length > 0) take(Buffer.concat(begun), offset);
}

// select gives the entries of the context, from the leaf up.
function select() {
	const list = [];
	let compaction;
	for (let entry = last; entry; entry = entries.get(entry.parentId)) {
		if (entry.type !== "compaction" || !compaction) list.push(entry);
		if (entry.type === "compaction") compaction ??= entry;
		if (compaction && entry.id === compaction.firstKept) break;
	}
	// The summary stands in front.
	return compaction ? [...list.filter((e) => e !== compaction), compaction] : list;
}

function messageOf(entry) {
	switch (entry.type) {
		case "message":
			return entry.message;
		case "custom_message":
			return { role: "custom", customType: entry.customType, content: entry.content };
		case "branch_summary":
			return entry.summary && { role: "branchSummary", summary: entry.summary, fromId: entry.fromId };
		case "compaction":
			return { role: "compactionSummary", summary: entry.summary, tokensBefore: entry.tokensBefore };
	}
}

function messages(selected) {
	const list = [];
	const fd = openSync(file);
	for (const { offset, length } of selected.reverse()) {
		const bytes = Buffer.allocUnsafe(length);
		readSync(fd, bytes, 0, length, offset);
		const message = messageOf(JSON.parse(bytes.utf8Slice()));
		if (message) list.push(message);
	}
	closeSync(fd);
	return list;
}

await measure(async () => {
	await index();
	return messages(select()).length;
});
