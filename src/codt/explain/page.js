"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

// Every text goes in by textContent, so that no name is ever read as markup.
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function number(value) {
  return Number(value.toPrecision(6)).toString();
}

function bar(node) {
  const element = make("span", "bar");
  if (node.counts) {
    const total = node.counts.reduce((sum, count) => sum + count, 0);
    node.counts.forEach((count, index) => {
      if (count === 0) return;
      const part = make("i");
      part.style.width = `${(100 * count) / total}%`;
      part.style.background = data.colours[index];
      part.title = `${data.classes[index]}: ${number(count)}`;
      element.append(part);
    });
  } else if (node.spread) {
    const [low, mean, high] = node.spread;
    const band = make("i", "band");
    band.style.left = `${100 * low}%`;
    band.style.width = `${100 * Math.max(high - low, 0.01)}%`;
    const mark = make("i", "mean");
    mark.style.left = `${Math.min(100 * mean, 98)}%`;
    element.append(band, mark);
  }
  return element;
}

function describe(node, panel) {
  panel.replaceChildren();
  panel.append(make("p", "", node.leaf ? `Leaf ${node.id}: ${data.target} = ${node.prediction}` : `Node ${node.id}: ${node.test}?`));
  panel.append(make("p", "rule", `Rule: ${node.rule.length ? node.rule.join(" and ") : "every sample"}`));
  panel.append(make("p", "", `${node.n} training samples; as a leaf: ${data.target} = ${node.prediction}, loss ${number(node.loss)}`));
  if (node.counts) {
    const table = make("table");
    node.counts.forEach((count, index) => {
      if (count === 0) return;
      const row = make("tr");
      row.append(make("td", "", data.classes[index]), make("td", "", number(count)));
      table.append(row);
    });
    panel.append(table);
    panel.append(make("p", "", `${node.n_right} of ${node.n_rows} rows here are predicted rightly by the whole tree.`));
  }
  const more = node.n_rows - node.rows.length;
  const rest = more > 0 ? ` and ${more} more` : "";
  panel.append(make("p", "rows", `Rows (counted from 0): ${node.rows.join(", ")}${rest}`));
}

function draw(tree) {
  const section = make("section", "tree");
  section.append(make("h2", "", tree.title));
  const facts = make("div", "facts");
  for (const [name, text] of tree.facts) {
    const fact = make("span", "", `${name} `);
    fact.append(make("b", "", text));
    facts.append(fact);
  }
  const foldAll = make("button", "fold-all", "fold all");
  const unfoldAll = make("button", "unfold-all", "unfold all");
  section.append(facts, foldAll, " ", unfoldAll);
  const panel = make("div", "details");
  panel.append(make("p", "", "Click on a node to see its rule and its samples."));
  const places = new Map();
  const folds = [];
  const top = make("ul");
  places.set(-1, top);
  for (const node of tree.nodes) {  // a parent comes before its children
    const item = make("li", node.leaf ? "leaf" : "inner");
    const row = make("div", "row");
    row.tabIndex = 0;
    row.dataset.node = node.id;
    const fold = make("button", "fold", node.leaf ? "" : "▾");
    if (node.leaf) fold.style.visibility = "hidden";
    fold.setAttribute("aria-label", "fold");
    const answer = make("span", "answer", node.parent < 0 ? "" : node.yes ? "yes" : "no");
    row.append(fold, answer, make("span", "what", node.leaf ? node.prediction : node.test), bar(node), make("span", "count", `${node.n}`));
    item.append(row);
    if (!node.leaf) {
      const children = make("ul");
      item.append(children);
      places.set(node.id, children);
      const set = (hidden) => {
        children.hidden = hidden;
        fold.textContent = hidden ? "▸" : "▾";
        fold.setAttribute("aria-expanded", String(!hidden));
      };
      set(false);
      folds.push(set);
      fold.addEventListener("click", (event) => {
        event.stopPropagation();
        set(!children.hidden);
      });
    }
    const select = () => {
      section.querySelectorAll(".selected").forEach((other) => other.classList.remove("selected"));
      row.classList.add("selected");
      describe(node, panel);
    };
    row.addEventListener("click", select);
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === row) select();
    });
    places.get(node.parent).append(item);
  }
  foldAll.addEventListener("click", () => folds.forEach((set) => set(true)));
  unfoldAll.addEventListener("click", () => folds.forEach((set) => set(false)));
  section.append(top, panel);
  return section;
}

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Bounds over time, as steps: a value holds until the next change.
function drawTrace(section) {
  const wide = 640, tall = 260, left = 70, bottom = 36, top = 12, right = 120;
  const seconds = data.trace.map((row) => row[0]);
  const last = Math.max(...seconds, 1e-9);
  const highest = Math.max(...data.trace.map((row) => row[3]), 1e-9);
  const x = (value) => left + (value / last) * (wide - left - right);
  const y = (value) => tall - bottom - (value / highest) * (tall - top - bottom);
  const picture = shape("svg", { viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, "font-size": 12, fill: "#1c2430" });
  for (const [column, paint, name] of [[3, "#d55e00", "best tree"], [2, "#0072b2", "lower bound"]]) {
    let path = "";
    data.trace.forEach((row, index) => {
      path += index === 0 ? `M${x(row[0])} ${y(row[column])}` : `H${x(row[0])}V${y(row[column])}`;
    });
    picture.append(shape("path", { d: path, fill: "none", stroke: paint, "stroke-width": 2 }));
    const row = column === 3 ? 0 : 1;
    picture.append(shape("rect", { x: wide - right + 14, y: top + 20 * row, width: 12, height: 3, fill: paint }));
    picture.append(shape("text", { x: wide - right + 32, y: top + 6 + 20 * row }, name));
  }
  picture.append(shape("path", { d: `M${left} ${top}V${tall - bottom}H${wide - right}`, fill: "none", stroke: "#5b6675" }));
  for (const share of [0, 0.5, 1]) {
    picture.append(shape("text", { x: x(share * last), y: tall - bottom + 16, "text-anchor": "middle" }, `${Number((share * last).toPrecision(3))}`));
    picture.append(shape("text", { x: left - 6, y: y(share * highest) + 4, "text-anchor": "end" }, `${Number((share * highest).toPrecision(4))}`));
  }
  picture.append(shape("text", { x: (left + wide - right) / 2, y: tall - 4, "text-anchor": "middle" }, "seconds"));
  section.append(picture);
  section.append(make("p", "", `Status: ${data.status}; gap ${(100 * data.gap).toFixed(2)} %.`));
}

data.classes.forEach((name, index) => {
  const entry = make("span");
  const patch = make("i");
  patch.style.background = data.colours[index];
  entry.append(patch, name);
  document.getElementById("legend").append(entry);
});
document.getElementById("legend").append(data.bars.join(" "));
data.trees.forEach((tree) => document.getElementById("trees").append(draw(tree)));
drawTrace(document.getElementById("trace"));
