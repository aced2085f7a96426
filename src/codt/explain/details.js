// What is shown of one node: its rule, its samples, and a histogram.

// The distribution in a node, as a bar: shares of classes, or a band around what is predicted.
function bar(parts, place, width, height) {
  let at = 0;
  const total = parts.reduce((sum, count) => sum + count, 0) || 1;
  parts.forEach((count, group) => {
    if (!count) return;
    const wide = (width * count) / total;
    const part = shape("rect", { x: at, y: 0, width: wide, height });
    part.style.fill = data.colours[group];
    place.append(part);
    at += wide;
  });
}

function band([low, middle, high], place, width, height) {
  place.append(shape("rect", { x: low * width, y: 0, width: Math.max((high - low) * width, 1.5), height, class: "band" }));
  place.append(shape("rect", { x: Math.min(middle * width, width - 2), y: -1, width: 2, height: height + 2, class: "middle" }));
}

function countsTable(node, own) {
  const both = !own;
  const table = make("table", "counts");
  const head = make("tr", "", ...["class", both ? "training" : "samples"].map((name) => make("th", "", name)));
  if (both) head.append(make("th", "", "data given"));
  table.append(make("thead", "", head));
  const body = make("tbody");
  node.counts.forEach((count, group) => {
    if (!count && !node.counts_here[group]) return;
    const patch = make("i", "patch");
    patch.style.background = data.colours[group];
    const line = make("tr", "", make("td", "", patch, data.classes[group]), make("td", "number", number(count)));
    if (both) line.append(make("td", "number", number(node.counts_here[group])));
    body.append(line);
  });
  table.append(body);
  return table;
}

function copyButton(node) {
  const text = `if ${node.rule.join(" and ") || "anything"} then ${data.target} = ${node.prediction}`;
  const element = button("copy", "Copy rule", "", async () => {
    await copy(text);
    element.textContent = "Copied";
    setTimeout(() => { element.textContent = "Copy rule"; }, 1500);
  });
  return element;
}

// own: the numbers of the tree itself are those of the data given
function describe(node, panel, own, foldable) {
  const heading = node.sides ? `Node ${node.id}: ${node.name} ${node.sides[0]}?` : `Leaf ${node.id}: ${node.prediction}`;
  const conditions = make("ul", "rule");
  if (!node.rule.length) conditions.append(make("li", "", "every sample"));
  node.rule.forEach((condition) => conditions.append(make("li", "", condition)));
  const buttons = make("p", "buttons", copyButton(node));
  if (foldable) buttons.append(foldable);
  const size = own ? samples(node.n) : `${samples(node.n)} in training, ${number(node.here)} of the data given`;
  const facts = [size, `loss as a leaf ${number(node.loss)}`];
  if (node.sides) facts.push(`as a leaf ${data.target} = ${node.prediction}`);
  panel.replaceChildren(make("h3", "", heading), make("p", "muted", facts.join(" · ")), make("h4", "", "Rule"), conditions, buttons);
  if (node.histogram) {
    panel.append(make("h4", "", node.sides ? "What the test separates" : "What is predicted"));
    panel.append(histogram(node, node.sides ? node.name : data.targets[0]));
  }
  if (node.counts) {
    panel.append(countsTable(node, own));
    panel.append(make("p", "muted", `The tree predicts ${number(node.right)} of ${number(node.here)} here correctly.`));
  }
}
