// bun make-omp.ts PACKAGE OUT: makes the logs of testdata/omp with oh-my-pi's own
// SessionManager, one idea a file. PACKAGE is the folder of its npm package, OUT
// the folder to write to. Run it with an empty HOME. What they say is made up.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const [folder, out] = process.argv.slice(2);
const { SessionManager } = await import(`${folder}/src/session/session-manager.ts`);
const work = mkdtempSync(`${tmpdir()}/make-omp-`);
mkdirSync(out, { recursive: true });

let clock = Date.UTC(2026, 0, 5, 9);
const tick = () => (clock += 1000);

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }], timestamp: tick() });
const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const assistant = (text: string, calls: object[] = []) => ({
  role: "assistant", content: [{ type: "text", text }, ...calls], api: "anthropic-messages", provider: "acme",
  model: "large", usage, stopReason: calls.length > 0 ? "toolUse" : "stop", timestamp: tick(),
});
const call = (id: string) => ({ type: "toolCall", id, name: "read", arguments: { path: "main.go" } });
const result = (id: string) => ({
  role: "toolResult", toolCallId: id, toolName: "read", content: [{ type: "text", text: "package main" }], isError: false, timestamp: tick(),
});

// exit is what a process records when it ends, as exit-diagnostics.ts does.
const exit = (s: any) =>
  s.appendCustomEntry("session_exit", { reason: "quit", kind: "normal", recordedAt: new Date(tick()).toISOString() });

function begin(s: any) {
  return [s.appendMessage(user("rename the parser")), s.appendMessage(assistant("done")), s.appendMessage(user("and its tests"))];
}

// explore sets a checkpoint and looks around, as agent-session.ts records it.
function explore(s: any) {
  const startedAt = new Date(tick()).toISOString();
  s.appendMessage(user("why does it fail?"));
  s.appendMessage(assistant("I look around.", [{ ...call("k1"), name: "checkpoint", arguments: { goal: "find the cause" } }]));
  const checkpoint = s.appendMessage({ ...result("k1"), toolName: "checkpoint", content: [{ type: "text", text: "Checkpoint: find the cause" }], details: { goal: "find the cause", startedAt } });
  s.appendCustomMessageEntry("checkpoint-active-reminder", "A checkpoint is active.", false, undefined, "agent");
  s.appendMessage(assistant("", [call("k2")]));
  s.appendMessage(result("k2"));
  return { checkpoint, startedAt };
}

const ideas: Record<string, (s: any) => unknown> = {
  checkpoint(s) {
    explore(s);
  },
  rewound(s) {
    const { checkpoint, startedAt } = explore(s);
    const report = "The cause is in main.go.";
    s.appendMessage(assistant("", [{ ...call("k3"), name: "rewind", arguments: { report } }]));
    s.appendMessage({ ...result("k3"), toolName: "rewind", content: [{ type: "text", text: "Rewind requested." }], details: { report, rewound: true } });
    s.branchWithSummary(checkpoint, report, { startedAt });
    s.appendCustomMessageEntry("rewind-report", `The checkpoint was rewound.\nReport:\n${report}`, false, { report, startedAt, rewoundAt: new Date(tick()).toISOString() }, "agent");
    s.appendMessage(assistant("Mended."));
  },
  async title(s) {
    begin(s);
    await s.setSessionName("Parser rename", "auto", "first-turn");
    s.appendMessage(assistant("renamed"));
    await s.setSessionName("Parser, renamed ✓", "user");
  },
  settings(s) {
    s.appendModelChange("acme/large");
    s.appendModelChange("acme/small", "smol");
    s.appendModelChange("acme/other", "default", true);
    s.appendThinkingLevelChange("high", "auto");
    s.appendServiceTierChange({ anthropic: "priority" });
    begin(s);
    s.appendServiceTierChange(null);
    s.appendModeChange("plan", { planFile: "plan.md" });
    s.appendModeChange("none");
    s.appendThinkingLevelChange();
    s.appendCredentialPin("acme", "0".repeat(64));
    s.appendMessage(assistant("tested"));
  },
  branches(s) {
    const [, answered] = begin(s);
    s.appendMessage(assistant("tests renamed", [call("c1")]));
    s.appendMessage(result("c1"));
    s.branch(answered);
    s.appendMessage(user("rather its docs"));
    const docs = s.appendMessage(assistant("docs renamed"));
    s.branchWithSummary(answered, "The docs were renamed.", { readFiles: ["main.go"] });
    s.appendMessage(user("go on"));
    s.branchWithSummary(docs, "", { kind: "discarded-entry-branch", discardedEntryId: "ffffffff" });
    s.appendMessage(user("what now?"));
    s.branchWithSummary(null, "All over again.");
    s.appendMessage(user("a second root"));
    s.appendMessage(assistant("fine"));
  },
  labels(s) {
    const [first, answered, second] = begin(s);
    s.appendLabelChange(first, "start");
    s.appendLabelChange(answered, "good");
    s.appendLabelChange(second, "bad");
    s.appendLabelChange(second, undefined);
    s.branch(answered);
    s.appendLabelChange(answered, "better");
    s.appendMessage(assistant("labelled"));
  },
  custom(s) {
    begin(s);
    s.appendCustomEntry("tool_execution_start", { toolCallId: "c1", toolName: "read", startedAt: clock });
    s.appendCustomEntry("acme.note");
    s.appendCustomMessageEntry("acme.hint", "mind the tests", false, { n: 1 }, "user", tick());
    s.appendCustomMessageEntry("acme.hint", [{ type: "text", text: "shown" }], true);
    s.appendTtsrInjection(["no-any"]);
    s.appendMessage(assistant("minded"));
  },
  compaction(s) {
    const [, , second] = begin(s);
    s.appendMessage(assistant("tests renamed"));
    s.appendCompaction("The parser was renamed.", "renamed", second, 5000, { tokensAfter: 900, method: "summary" });
    s.appendMessage(user("go on"));
    s.appendCompaction("All of it was renamed.", undefined, "", 4000, { preserveData: { n: 1 } });
    s.appendMessage(assistant("gone on"));
  },
  reset(s) {
    begin(s);
    s.appendResetBoundary();
    const after = s.appendMessage(user("something else"));
    s.appendMessage(assistant("else"));
    s.branch(after);
    s.appendMessage(assistant("or this"));
  },
  subagent(s) {
    s.appendSessionInit({ systemPrompt: "You look for tests.", task: "find them", tools: ["read"], agent: "scout", spawns: "" });
    s.appendMessage(user("find them"));
    s.appendMessage(assistant("none"));
  },
  exit(s) {
    begin(s);
    s.appendMessage(assistant("tested"));
    exit(s);
  },
  // A second process branches while the first one is open; the first one ends last,
  // and writes its session_exit under the leaf that it knew.
  async "stale-exit"(s) {
    const [, answered] = begin(s);
    s.appendMessage(assistant("tests renamed"));
    await s.flush();
    const second = await SessionManager.open(s.getSessionFile(), work, undefined, { suppressBreadcrumb: true });
    second.branch(answered);
    second.appendMessage(user("rather its docs"));
    second.appendMessage(assistant("docs renamed"));
    await second.close();
    exit(s);
  },
};

for (const [name, write] of Object.entries(ideas)) {
  const s = SessionManager.create("/home/u/proj", work);
  await write(s);
  await s.flush();
  await s.close();
  renameSync(s.getSessionFile(), `${out}/${name}.jsonl`);
}
rmSync(work, { recursive: true });
process.exit(0);
