"use strict";
// The graph of kernels: laid out by dagre, collapsed by module, with pan and zoom.

const MAX_SHOWN = 400;
const ROW = 15;
const LEAST_SCALE = 0.6;
const drawing = { depth: 0, opened: new Set(), closed: new Set(), scale: 1, x: 0, y: 0, boxes: [], size: [1, 1] };

/** Returns the scopes of a node, from the slashes or dots of its name: `/layer1/conv/Conv` → ["layer1", "layer1/conv"]. */
function scopesOf(node) {
  const name = node.nodes.map((id) => data.names[id]).find((text) => !text.startsWith("@")) ?? "";
  const parts = (name.includes("/") ? name.split("/") : name.split(".")).filter((part) => part).slice(0, -1);
  return parts.map((_, end) => parts.slice(0, end + 1).join("/"));
}

/** Returns the outermost collapsed module around a node, or null. */
function moduleOf(node) {
  if (node.kind !== "kernel" && node.kind !== "op") return null;
  const scopes = scopesOf(node);
  return scopes.find((scope, depth) => drawing.closed.has(scope) || (depth >= drawing.depth && !drawing.opened.has(scope))) ?? null;
}

/** Returns the boxes to draw: a node each, or a module with the nodes in it. */
function boxesOf(nodes) {
  const modules = new Map();
  const boxes = [];
  nodes.forEach((node, number) => {
    const module = moduleOf(node);
    let box = module === null ? undefined : modules.get(module);
    if (box === undefined) {
      box = { module, members: [] };
      boxes.push(box);
      if (module !== null) modules.set(module, box);
    }
    box.members.push(number);
  });
  return boxes;
}

function labelsOf(box) {
  const members = box.members.map((number) => data.graph.nodes[number]);
  if (box.module !== null) return [`${box.module}`, `${members.length} kernels`];
  const [node] = members;
  if (node.kind !== "kernel") return [node.name];
  const names = node.nodes.map((id) => data.names[id]).filter((text) => !text.startsWith("@"));
  return [shortened(names.at(-1) ?? node.name, 34), shortened(node.ops.join(" · "), 44)].filter((text) => text);
}

const shortened = (text, length) => (text.length <= length ? text : `${text.slice(0, length / 2)}…${text.slice(1 - length / 2)}`);

/** Lays the graph out again, and draws it. */
function layOut() {
  const nodes = data.graph.nodes;
  const boxes = boxesOf(nodes);
  const boxOf = new Map(boxes.flatMap((box, index) => box.members.map((number) => [number, index])));
  const graph = new dagre.graphlib.Graph({ multigraph: false });
  graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 26, ranker: boxes.length > MAX_SHOWN ? "longest-path" : "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  boxes.forEach((box, index) => {
    box.labels = labelsOf(box);
    box.ids = [...new Set(box.members.flatMap((number) => nodes[number].nodes))];
    box.kind = box.module === null ? nodes[box.members[0]].kind : "module";
    const width = Math.max(...box.labels.map((text, row) => text.length * (row ? 6 : 7.2))) + 20;
    graph.setNode(index, { width: Math.max(width, 60), height: box.labels.length * ROW + 12 });
  });
  for (const [from, to, type] of data.graph.edges) {
    const [a, b] = [boxOf.get(from), boxOf.get(to)];
    if (a !== b) graph.setEdge(a, b, { type });
  }
  // A saved model has no edges: its kernels are below each other in their order.
  if (!data.graph.edges.length) boxes.slice(1).forEach((_, index) => graph.setEdge(index, index + 1, { hidden: true }));
  dagre.layout(graph);
  drawing.boxes = boxes;
  drawing.size = [graph.graph().width ?? 1, graph.graph().height ?? 1];
  draw(graph);
}

function draw(graph) {
  const view = byId("view");
  view.replaceChildren();
  for (const { v, w } of graph.edges()) {
    const { points, type, hidden } = graph.edge(v, w);
    if (hidden) continue;
    const path = points.map((point, index) => `${index ? "L" : "M"}${point.x.toFixed(1)} ${point.y.toFixed(1)}`).join("");
    const line = shape("path", { class: "edge", d: path }, shape("title", {}, type));
    line.ends = [drawing.boxes[v], drawing.boxes[w]];
    view.append(line);
  }
  drawing.boxes.forEach((box, index) => view.append(drawnBox(box, graph.node(index))));
  showSelection();
}

function drawnBox(box, { x, y, width, height }) {
  const group = shape("g", {
    class: `node ${box.kind}`,
    transform: `translate(${(x - width / 2).toFixed(1)} ${(y - height / 2).toFixed(1)})`,
    onclick: () => select(box.ids, "graph"),
    ondblclick: () => toggle(box),
  });
  const title = box.members.map((number) => data.graph.nodes[number].name).slice(0, 20).join("\n");
  group.append(shape("title", {}, title), shape("rect", { class: "box", width, height, rx: 5 }));
  const share = byId("colour").checked ? shareOf(box) : null;
  if (share !== null) group.append(shape("rect", { x: 0, y: height - 4, height: 4, width: Math.max(2, width * share), fill: heat(share), rx: 2 }));
  box.labels.forEach((text, row) => group.append(shape("text", { x: 10, y: 17 + row * ROW, class: row ? "ops" : "" }, text)));
  box.drawn = group;
  box.centre = [x, y];
  return group;
}

/** Returns the time of a box as a part of the slowest node's time, or null without a profile. */
function shareOf(box) {
  if (!data.profile || !box.members.some((number) => data.graph.nodes[number].seconds)) return null;
  const seconds = (number) => data.graph.nodes[number].seconds ?? 0;
  const largest = Math.max(...data.graph.nodes.map((node) => node.seconds ?? 0), 1e-12);
  return Math.min(1, box.members.reduce((sum, number) => sum + seconds(number), 0) / largest);
}

const heat = (share) => `hsl(${Math.round(120 - 120 * share)} 75% 45%)`;

/** Opens a collapsed module, or collapses the innermost module of a node. */
function toggle(box) {
  if (box.module !== null) {
    drawing.opened.add(box.module);
    drawing.closed.delete(box.module);
  } else {
    const module = scopesOf(data.graph.nodes[box.members[0]]).at(-1);
    if (module === undefined) return;
    drawing.closed.add(module);
    drawing.opened.delete(module);
  }
  layOut();
}

function showSelection() {
  for (const box of drawing.boxes) {
    box.selected = isSelected(box.ids);
    box.drawn.classList.toggle("selected", box.selected);
  }
  for (const line of document.querySelectorAll(".edge")) line.classList.toggle("selected", line.ends.some((box) => box.selected));
}

/** Moves the view so that the first selected box is in its centre. */
function scrollToSelected() {
  const box = drawing.boxes.find((each) => each.selected);
  if (box === undefined) return;
  const { width, height } = byId("drawing").getBoundingClientRect();
  drawing.scale = Math.max(drawing.scale, 0.7);
  drawing.x = width / 2 - box.centre[0] * drawing.scale;
  drawing.y = height / 2 - box.centre[1] * drawing.scale;
  place();
}

function place() {
  byId("view").setAttribute("transform", `translate(${drawing.x} ${drawing.y}) scale(${drawing.scale})`);
}

/** Shows the whole graph, or its beginning if that would be unreadable. */
function fit() {
  const { width, height } = byId("drawing").getBoundingClientRect();
  drawing.scale = Math.min(1.2, Math.max(LEAST_SCALE, Math.min(width / (drawing.size[0] + 40), (height - 60) / (drawing.size[1] + 40))));
  const isWide = drawing.size[0] * drawing.scale > width;
  drawing.x = width / 2 - (isWide ? drawing.boxes[0].centre[0] : drawing.size[0] / 2) * drawing.scale;
  drawing.y = 50;
  place();
}

/** Zooms by `factor`; the point (x, y) of the drawing keeps its place. */
function zoom(factor, x, y) {
  const { width, height } = byId("drawing").getBoundingClientRect();
  const [px, py] = [x ?? width / 2, y ?? height / 2];
  const scale = Math.min(4, Math.max(0.05, drawing.scale * factor));
  drawing.x = px - ((px - drawing.x) * scale) / drawing.scale;
  drawing.y = py - ((py - drawing.y) * scale) / drawing.scale;
  drawing.scale = scale;
  place();
}

function startGraph() {
  const svg = byId("drawing");
  let last = null;
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { left, top } = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - left, event.clientY - top);
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; });
  svg.addEventListener("pointermove", (event) => {
    if (last === null || event.buttons === 0) return;
    svg.classList.add("moving");
    drawing.x += event.clientX - last[0];
    drawing.y += event.clientY - last[1];
    last = [event.clientX, event.clientY];
    place();
  });
  for (const name of ["pointerup", "pointerleave"]) svg.addEventListener(name, () => { last = null; svg.classList.remove("moving"); });
  byId("zoom-in").addEventListener("click", () => zoom(1.3));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.3));
  byId("zoom-fit").addEventListener("click", fit);
  const depths = Math.max(0, ...data.graph.nodes.map((node) => scopesOf(node).length));
  byId("depth-label").hidden = depths === 0;
  byId("depth").max = depths;
  drawing.depth = depths;
  while (drawing.depth > 0 && boxesOf(data.graph.nodes).length > MAX_SHOWN) drawing.depth--;
  byId("depth").value = drawing.depth;
  byId("depth").addEventListener("input", (event) => {
    drawing.depth = Number(event.target.value);
    drawing.opened.clear();
    drawing.closed.clear();
    layOut();
    fit();
  });
  byId("colour-label").hidden = !data.profile;
  byId("colour").addEventListener("change", layOut);
  layOut();
  fit();
  state.listeners.push((origin) => {
    showSelection();
    if (origin !== "graph") scrollToSelected();
  });
}
