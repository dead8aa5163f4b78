// What the drivers share: how a sample is taken and printed.
import { readFileSync } from "node:fs";

// peak is the most memory that this process ever had resident. What getrusage tells of
// that may be the peak of the program that started it, since exec does not reset it.
function peak() {
	try {
		return 1024 * Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
	} catch {
		return 1024 * process.resourceUsage().maxRSS;
	}
}

// measure times work and prints it, with the number that work gives.
export async function measure(work) {
	const start = performance.now();
	const result = await work();
	const ns = Math.round((performance.now() - start) * 1e6);
	console.log(JSON.stringify({ ns, peak: peak(), result }));
}
