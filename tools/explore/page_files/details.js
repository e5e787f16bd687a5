"use strict";
// The tabs below; charts.js has those with charts.

const TABS = [["kernels", drawKernels], ["roofline", drawRoofline], ["fusion", drawFusion], ["rewrites", drawRewrites],
  ["schedule", drawSchedule], ["memory", drawMemory], ["passes", drawPasses], ["values", drawValues]];
const shown = { tab: 0, pass: null, order: 2 };

const cell = (text, number = false) => element("td", { class: number ? "number" : "" }, String(text));
const hint = (text) => element("p", { class: "hint" }, text);
const selectedNames = () => [...state.nodes].map((id) => data.names[id]);
const selectedKernels = () => {
  const calls = data.graph.nodes.filter((node) => node.kind === "kernel" && isSelected(node.nodes));
  return [...new Set([...calls.map((node) => node.name), ...[...state.kernels].map((id) => data.names[id].slice(1))])];
};

/** The calls of kernels with their times, the slowest first; a click on a heading orders by it. */
function drawKernels() {
  const calls = data.graph.nodes.filter((node) => node.kind === "kernel");
  const columns = data.profile
    ? [["kernel", nameOf], ["nodes", namesOf], ["µs", (c) => (c.seconds ?? 0) * 1e6], ["share %", (c) => (100 * (c.seconds ?? 0)) / data.profile.seconds],
       ["GFLOP/s", (c) => c.gflops], ["GB/s", (c) => c.gbytes], ["of roofline %", (c) => (c.roofline == null ? null : 100 * c.roofline)]]
    : [["kernel", nameOf], ["nodes", namesOf], ["ops", (c) => c.ops.join(" · ")]];
  const order = Math.min(shown.order, columns.length - 1);
  const key = columns[order][1];
  const rank = (a, b) => (typeof key(a) === "number" ? key(b) - key(a) : String(key(a)).localeCompare(String(key(b))));
  const rows = (data.profile || shown.ordered ? [...calls].sort(rank) : calls).map((call) => element("tr", {
    class: isSelected(call.nodes) ? "row selected" : "row", onclick: () => select(call.nodes),
  }, ...columns.map(([, value]) => numberCell(value(call)))));
  const heads = columns.map(([name], index) => element("th", {
    class: index > 1 && data.profile ? "number" : "", onclick: () => { shown.order = index; shown.ordered = true; drawTab(); },
  }, name));
  const total = data.profile ? [hint(`a run of ${(data.profile.seconds * 1e3).toFixed(3)} ms with --threads ${data.profile.threads}`)] : [];
  return [...total, element("table", {}, element("tr", {}, ...heads), ...rows)];
}

const nameOf = (call) => shortened(call.name, 34);
const namesOf = (call) => shortened(call.nodes.map((id) => data.names[id]).filter((text) => !text.startsWith("@")).join(", "), 40);

function numberCell(value) {
  if (value === null || value === undefined) return cell("", true);
  return typeof value === "number" ? cell(value.toFixed(1), true) : cell(value);
}

/** Why the selected nodes are in their kernels. */
function drawFusion() {
  const stories = [...new Set([...selectedNames(), ...selectedKernels().map((name) => `@${name}`)].flatMap((name) => data.fusion[name] ?? []))];
  if (!stories.length) return [hint("Select a node: this tab explains why it shares its kernel with others, or why it does not.")];
  return stories.map((story) => element("pre", {}, story));
}

/** What passes did to the selected nodes: layouts, algorithms, folded constants; or why they left them alone. */
function drawRewrites() {
  const names = selectedNames();
  const found = names.filter((name) => data.rewrites[name]);
  if (!names.length && !state.kernels.size) return [hint("Select a node: this tab lists what each pass did to it, or why it left it alone, such as its layout.")];
  if (!found.length) return [hint("No pass reported a decision about the selection.")];
  return found.flatMap((name) => [element("h2", {}, name), element("pre", {}, data.rewrites[name].join("\n"))]);
}

/** The values of nodes that differ from the reference, the first one in the order of the nodes first. */
function drawValues() {
  const different = data.values.filter((row) => !row.agrees);
  const first = different.length ? `the first is ${different[0].name}` : "all agree";
  const rest = data.values.filter((row) => row.agrees && row.operator !== "Constant");
  const rows = [...different, ...rest].map((row) => element("tr", {
    class: isSelected(row.ids) ? "row selected" : "row", onclick: () => select(row.ids),
  }, cell(row.agrees ? "" : "differs"), cell(shortened(row.name, 48)), cell(row.operator),
  ...[row.max_abs, row.max_rel, row.largest].map((number) => cell(number === null ? "–" : number.toPrecision(3), true))));
  const heads = ["", "value", "operator", "max abs", "max rel", "largest"].map((text, index) => element("th", { class: index > 2 ? "number" : "" }, text));
  return [hint(`${different.length} of ${data.values.length} values differ from the reference; ${first}.`), element("table", {}, element("tr", {}, ...heads), ...rows)];
}

/** The candidates for the schedule of the selected kernels. */
function drawSchedule() {
  const kernels = selectedKernels().filter((name) => data.schedules[name]);
  if (!kernels.length) return [hint("Select a kernel: this tab ranks the candidates for its schedule.")];
  return kernels.slice(0, 8).flatMap((name) => drawnRanking(name, data.schedules[name]));
}

function drawnRanking(name, kernel) {
  const parts = [element("h2", {}, `@${name}`)];
  const heads = ["", "cycles", "arithmetic", "memory", "candidate", "reason"];
  const rows = kernel.ranking.map((each) => {
    const numbers = ["cycles", "arithmetic", "memory"].map((part) => cell(each.cost === null ? "–" : each.cost[part].toLocaleString("en"), true));
    const reason = each.refused === null ? each.reason : `refused: ${each.refused}`;
    return element("tr", { class: each.chosen ? "selected" : "" }, cell(each.chosen ? "▸" : ""), ...numbers,
      cell(each.name ? `${each.family}: ${each.name}` : each.family), cell(reason));
  });
  if (rows.length) parts.push(element("table", {}, element("tr", {}, ...heads.map((text) => element("th", {}, text))), ...rows));
  const chosen = kernel.ranking.find((each) => each.chosen);
  const decisions = chosen?.decisions ?? [];
  const steps = kernel.given ?? chosen?.schedule ?? [];
  parts.push(element("pre", {}, [...decisions, "", ...steps].join("\n")));
  return parts;
}

/** The passes in order, and the lines that the chosen one changed. */
function drawPasses() {
  const rows = data.passes.map((run, number) => element("tr", {
    class: shown.pass === number ? "row selected" : "row", onclick: () => { shown.pass = number; drawTab(); },
  }, cell(run.name), cell((run.seconds * 1e3).toFixed(1), true), cell(run.ops.toLocaleString("en"), true), cell(run.changed ?? "?", true)));
  const heads = ["pass", "ms", "ops after", "lines changed"].map((text, index) => element("th", { class: index ? "number" : "" }, text));
  const table = element("div", {}, element("table", {}, element("tr", {}, ...heads), ...rows));
  const chosen = data.passes[shown.pass];
  const diff = element("div", { class: "diff" });
  if (chosen === undefined) diff.append(hint("Select a pass to see what it changed."));
  else if (chosen.diff === null) diff.append(hint(`The module of ${chosen.name} is too large to show what changed.`));
  else if (!chosen.diff) diff.append(hint(`${chosen.name} changed nothing.`));
  else diff.append(...chosen.diff.split("\n").map(drawnDiffLine));
  return [element("div", { class: "split" }, table, diff)];
}

function drawnDiffLine(text) {
  const kind = { "+": "added", "-": "removed", "@": "place" }[text[0]] ?? "";
  return element("div", { class: kind }, text);
}

function drawTab() {
  const top = byId("tab").querySelector(".split > div")?.scrollTop;
  [...byId("tabs").children].forEach((button, index) => button.setAttribute("aria-selected", index === shown.tab));
  const [name, draw] = TABS[shown.tab];
  const absent = data.absent[name];
  const isEmpty = absent && name !== "kernels";
  byId("tab").replaceChildren(...(absent ? [hint(absent)] : []), ...(isEmpty ? [] : draw()));
  const list = byId("tab").querySelector(".split > div");
  if (list && top) list.scrollTop = top;
}

function openTab(index) {
  if (index >= TABS.length) return;
  shown.tab = index;
  drawTab();
}

function startDetails() {
  TABS.forEach(([name], index) => byId("tabs").append(element("button", { role: "tab", onclick: () => openTab(index) }, name)));
  drawTab();
  state.listeners.push(drawTab);
}
