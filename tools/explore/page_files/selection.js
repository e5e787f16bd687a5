"use strict";
// What is selected: nodes of the model, and kernels. Listeners redraw when it changes.

const state = { nodes: new Set(), kernels: new Set(), listeners: [] };

/** Selects the ids in `ids`; `origin` is the listener that need not scroll, since the user clicked in it. */
function select(ids, origin) {
  state.nodes = new Set(ids.filter((id) => !isKernel(id)));
  state.kernels = new Set(ids.filter(isKernel));
  for (const listener of state.listeners) listener(origin);
}

const isKernel = (id) => data.names[id].startsWith("@");

/** Whether something made from `ids` is selected: by its nodes, or by its kernel if it has none. */
function isSelected(ids) {
  if (!ids) return false;
  if (ids.some((id) => state.nodes.has(id))) return true;
  return (state.nodes.size === 0 || ids.every(isKernel)) && ids.some((id) => state.kernels.has(id));
}

/** Whether a function that computes `ids` computes anything selected. */
const computesSelected = (ids) => ids.some((id) => state.nodes.has(id) || state.kernels.has(id));

/** Returns an element with attributes, and children that are elements or texts. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

/** Returns an SVG element. */
function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(made, attributes, children);
  return made;
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
}

const byId = (id) => document.getElementById(id);
