"use strict";
// Reads the data of the page, and starts its parts: search, keys and theme.

let data = null;

/** Returns the data in the page: JSON, compressed by gzip, in base64. */
async function read() {
  const bytes = Uint8Array.from(atob(byId("data").textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Returns the search results: nodes of the graph whose names, kernel or ops contain all words. */
function found(query) {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word);
  if (!words.length) return [];
  return data.graph.nodes.filter((node) => {
    node.haystack ??= [node.name, ...node.ops, ...node.nodes.map((id) => data.names[id])].join(" ").toLowerCase();
    return words.every((word) => node.haystack.includes(word));
  });
}

function startSearch() {
  const [input, list] = [byId("search"), byId("results")];
  let [results, chosen] = [[], 0];
  const show = () => {
    list.hidden = !results.length || document.activeElement !== input;
    list.replaceChildren(...results.slice(0, 200).map((node, index) => element("li", {
      "aria-selected": index === chosen, onpointerdown: () => take(index),
    }, `${shortened(namesOf(node) || node.name, 60)}  ${node.ops.join(" · ")}`)));
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const take = (index) => {
    chosen = index;
    if (results[index]) select(results[index].nodes);
    show();
  };
  input.addEventListener("input", () => { [results, chosen] = [found(input.value), 0]; show(); });
  input.addEventListener("focus", show);
  input.addEventListener("blur", show);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && results.length) {
      chosen = (chosen + step + results.length) % results.length;
      show();
      event.preventDefault();
    }
    if (event.key === "Enter") { take(chosen); input.blur(); }
    if (event.key === "Escape") { input.value = ""; results = []; input.blur(); }
  });
}

/** Selects the next or previous kernel in the order of calls. */
function step(by) {
  const calls = data.graph.nodes.filter((node) => node.kind === "kernel");
  if (!calls.length) return;
  const at = calls.findIndex((node) => isSelected(node.nodes));
  select(calls[at < 0 ? 0 : (at + by + calls.length) % calls.length].nodes);
}

function switchTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

const KEYS = {
  "/": () => byId("search").focus(), n: () => step(1), p: () => step(-1), "+": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: fit,
  t: switchTheme, "?": () => byId("keys").showModal(), Escape: () => select([]),
};

function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input[type='search'], select") || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
    if (/^[1-9]$/.test(event.key)) openTab(Number(event.key) - 1);
    else if (KEYS[event.key]) KEYS[event.key]();
    else return;
    event.preventDefault();
  });
  byId("theme").addEventListener("click", switchTheme);
  byId("help").addEventListener("click", () => byId("keys").showModal());
}

read().then((content) => {
  data = content;
  byId("title").textContent = data.title;
  byId("summary").textContent = data.summary;
  startGraph();
  startLevels();
  startDetails();
  startSearch();
  startKeys();
  document.body.dataset.ready = "true";
});
