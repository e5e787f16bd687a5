"use strict";
// The tabs with charts: the roofline and the memory of a run.

/** The kernels under the roofline of this machine; both axes are logarithmic. */
function drawRoofline() {
  const points = data.graph.nodes.filter((node) => node.gflops && node.gbytes);
  if (!points.length) return [hint("No kernel has a known number of operations and bytes.")];
  const { peak, bandwidths, threads } = data.profile;
  const [width, height] = [Math.max(480, byId("tab").clientWidth - 40), Math.max(160, byId("tab").clientHeight - 60)];
  const x = logAxis([...points.map(intensityOf), 0.1, 100], 50, width - 16);
  const y = logAxis([...points.map((node) => node.gflops), peak], height - 34, 10);
  const drawn = shape("svg", { width, height });
  const line = (x1, y1, x2, y2, kind) => drawn.append(shape("line", { class: kind, x1: x(x1), y1: y(y1), x2: x(x2), y2: y(y2) }));
  const label = (px, py, text, anchor) => drawn.append(shape("text", { class: "axis", x: px, y: py, "text-anchor": anchor }, text));
  for (const power of x.powers) { line(power, y.least, power, y.most, "grid"); label(x(power), height - 20, String(power), "middle"); }
  for (const power of y.powers) { line(x.least, power, x.most, power, "grid"); label(46, y(power) + 4, String(power), "end"); }
  label(width / 2, height - 4, "operations per byte, and GFLOP/s", "middle");
  for (const [size, speed] of bandwidths) {
    const [begin, ridge] = [Math.max(x.least, y.least / speed), Math.min(x.most, peak / speed)];
    if (begin >= ridge) continue;
    line(begin, begin * speed, ridge, ridge * speed, "roof");
    drawn.lastChild.append(shape("title", {}, `${speed.toFixed(0)} GB/s for data of ${sizeText(size)}`));
  }
  line(x.least, peak, x.most, peak, "roof");
  label(width - 16, y(peak) - 4, `${peak.toFixed(0)} GFLOP/s`, "end");
  const ordered = [...points].sort((a, b) => isSelected(a.nodes) - isSelected(b.nodes));
  drawn.append(...ordered.map((node) => shape("circle", {
    class: isSelected(node.nodes) ? "dot selected" : "dot", cx: x(intensityOf(node)), cy: y(node.gflops),
    r: 3 + 16 * Math.sqrt(node.seconds / data.profile.seconds), onclick: () => select(node.nodes),
  }, shape("title", {}, `${namesOf(node) || node.name}\n${node.gflops.toFixed(1)} GFLOP/s, ${node.gbytes.toFixed(1)} GB/s\n${partOfRoofline(node)}`))));
  const chosen = points.filter((node) => isSelected(node.nodes)).map((node) => `${namesOf(node) || node.name}: ${partOfRoofline(node)}`);
  const roofs = bandwidths.map(([size, speed]) => `${speed.toFixed(0)} GB/s up to ${sizeText(size)}`).join(", ");
  return [hint(chosen[0] ?? `With ${threads} thread${threads > 1 ? "s" : ""}: ${roofs}. Larger dots take more of the run; a click selects a kernel.`), drawn];
}

const intensityOf = (node) => node.gflops / node.gbytes;
const sizeText = (bytes) => (bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`);

/** Which roof bounds a kernel, and how close the kernel is to it. */
function partOfRoofline(node) {
  const { peak, bandwidths } = data.profile;
  const bytes = node.gbytes * 1e9 * node.seconds;
  const [, speed] = bandwidths.find(([size]) => bytes <= size) ?? bandwidths.at(-1);
  const bound = intensityOf(node) * speed >= peak ? "arithmetic" : "memory";
  return `${node.roofline === null ? "?" : (100 * node.roofline).toFixed(0)} % of the roofline, bound by ${bound}`;
}

/** Returns the scale of a logarithmic axis over `values`, from one place to another. */
function logAxis(values, begin, end) {
  const [first, last] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  const scale = (value) => begin + ((Math.log10(value) - first) / Math.max(1, last - first)) * (end - begin);
  const powers = Array.from({ length: last - first + 1 }, (_, index) => Number((10 ** (first + index)).toPrecision(1)));
  return Object.assign(scale, { powers, least: 10 ** first, most: 10 ** last });
}

/** The arena over the calls of a run: x is the call, y the offset in bytes. */
function drawMemory() {
  const { calls, buffers, dynamic, sizes } = data.memory;
  const named = Object.entries(sizes).map(([name, size]) => `${name} = ${size}`).join(", ");
  const note = (named && `For ${named}: `) + (dynamic ? `${dynamic} buffers of unknown size or offset are not drawn. ` : "");
  if (!buffers.length) return [hint(`${note}The program has no buffer of known size in an arena.`)];
  const total = Math.max(...buffers.map((buffer) => buffer.offset + buffer.size));
  const [width, height] = [Math.max(600, byId("tab").clientWidth - 90), 190];
  const x = (call) => 60 + (call * width) / Math.max(1, calls.length);
  const y = (bytes) => 8 + (bytes * height) / total;
  const drawn = shape("svg", { width: width + 70, height: height + 40 });
  for (const buffer of buffers) {
    drawn.append(shape("rect", {
      class: isSelected(idsOfCall(buffer.first)) ? "buffer selected" : "buffer", x: x(buffer.first), y: y(buffer.offset),
      width: x(buffer.last + 1) - x(buffer.first), height: Math.max(1, y(buffer.offset + buffer.size) - y(buffer.offset)),
      fill: `hsl(${(buffer.offset * 360) / total + 200} 45% 55%)`, onclick: () => select(idsOfCall(buffer.first), "memory"),
    }, shape("title", {}, `%${buffer.name} ${buffer.type}\n${buffer.size.toLocaleString("en")} bytes at ${buffer.offset.toLocaleString("en")}\n` +
      `${nameOfCall(buffer.first)} … ${nameOfCall(buffer.last)}`)));
  }
  for (const part of [0, 0.5, 1]) drawn.append(shape("text", { class: "axis", x: 2, y: y(part * total) + 4 }, `${((part * total) / 2 ** 20).toFixed(1)} MiB`));
  drawn.append(shape("text", { class: "axis", x: 60, y: height + 26 }, `${calls.length} calls, from left to right`));
  return [hint(`${note}${(total / 2 ** 20).toFixed(2)} MiB hold ${buffers.length} buffers of ` +
    `${(buffers.reduce((sum, buffer) => sum + buffer.size, 0) / 2 ** 20).toFixed(2)} MiB together. A click selects the call that writes a buffer.`), drawn];
}

/** Returns the ids of call `number` of the scheduled program. */
const idsOfCall = (number) => data.memory.calls[number];
const nameOfCall = (number) => data.names[idsOfCall(number)[0]];
