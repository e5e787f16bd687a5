"use strict";
// Panes with the text of a level each. Only visible lines are elements; a click selects what a line was made from.

const LINE = 16;
const FIRST_LEVELS = ["fused", "scheduled"];
const WIDE_LEVELS = [...FIRST_LEVELS, "assembly"];
const WIDE = 1600;

class Pane {
  constructor(level) {
    this.choice = element("select", { "aria-label": "level", onchange: () => this.show(Number(this.choice.value)) });
    data.levels.forEach(({ name }, index) => this.choice.append(element("option", { value: index }, name)));
    this.title = element("span");
    this.lines = element("div", { class: "lines" });
    this.height = element("div");
    this.text = element("div", { class: "text", tabindex: 0, onscroll: () => this.draw() }, this.height, this.lines);
    this.root = element("div", { class: "pane" },
      element("div", { class: "bar" }, this.choice, this.title,
        element("button", { title: "another level beside this one", onclick: () => addPane(Math.min(this.level + 1, data.levels.length - 1)) }, "+"),
        element("button", { title: "close", onclick: () => removePane(this) }, "×")),
      this.text);
    this.show(level);
  }

  /** Shows a level, at the first line of the selection. */
  show(level) {
    this.level = level;
    this.choice.value = level;
    const { title, text } = data.levels[level];
    this.title.textContent = title;
    this.source = text.split("\n");
    this.height.style.height = `${this.source.length * LINE}px`;
    this.text.scrollTop = 0;
    this.scrollToSelected();
    this.draw();
  }

  /** Returns the function around a line, or undefined. */
  spanOf(line) {
    return data.levels[this.level].spans.find(([first, last]) => first <= line && line <= last);
  }

  idsOf(line) {
    return data.levels[this.level].nodes[line] ?? this.spanOf(line)?.[2] ?? [];
  }

  /** Scrolls to the first selected line in a function, else to the longest function that computes the selection. */
  scrollToSelected() {
    const { nodes, spans } = data.levels[this.level];
    const strong = Object.keys(nodes).map(Number).filter((line) => isSelected(nodes[line]));
    const weak = spans.filter(([, , ids]) => computesSelected(ids)).sort((a, b) => b[1] - b[0] - (a[1] - a[0]));
    const within = strong.find((line) => spans.some(([first, last]) => first <= line && line <= last));
    const target = within ?? weak[0]?.[0] ?? strong[0];
    if (target !== undefined) this.text.scrollTop = Math.max(0, (target - 3) * LINE);
  }

  draw() {
    const first = Math.max(0, Math.floor(this.text.scrollTop / LINE) - 10);
    const count = Math.ceil(this.text.clientHeight / LINE) + 20;
    this.lines.style.top = `${first * LINE}px`;
    this.lines.replaceChildren(...this.source.slice(first, first + count).map((text, index) => this.drawnLine(text, first + index)));
  }

  drawnLine(text, line) {
    const { nodes } = data.levels[this.level];
    const span = this.spanOf(line);
    const kind = isSelected(nodes[line]) ? "strong" : span && computesSelected(span[2]) ? "weak" : "";
    const names = this.idsOf(line).map((id) => data.names[id]).join(", ");
    return element("div", { class: kind, "data-n": line + 1, title: names, onclick: () => this.click(line) }, text);
  }

  click(line) {
    const ids = this.idsOf(line);
    if (ids.length && !getSelection().toString()) select(ids, this);
  }
}

const panes = [];

function addPane(level) {
  const pane = new Pane(level);
  panes.push(pane);
  byId("levels").append(pane.root);
  pane.scrollToSelected();
  pane.draw();
  return pane;
}

function removePane(pane) {
  if (panes.length === 1) return;
  panes.splice(panes.indexOf(pane), 1);
  pane.root.remove();
  panes.forEach((each) => each.draw());
}

function startLevels() {
  const wanted = innerWidth < WIDE ? FIRST_LEVELS : WIDE_LEVELS;
  const found = wanted.map((name) => data.levels.findIndex((level) => level.name === name)).filter((index) => index >= 0);
  for (const level of found.length ? found : [0]) addPane(level);
  addEventListener("resize", () => panes.forEach((pane) => pane.draw()));
  state.listeners.push((origin) => {
    for (const pane of panes) {
      if (pane !== origin) pane.scrollToSelected();
      pane.draw();
    }
  });
}
