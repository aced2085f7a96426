// The histogram of a node: bars stacked by class or coloured by the mean of the targets, parted by the test.

function stack(picture, { counts, shades }, bar, place) {
  let below = 0;
  counts.forEach((row, group) => {
    if (!row[bar]) return;
    const part = shape("rect", place(below, below + row[bar]));
    part.style.fill = shades ? shade(shades[bar]) : data.colours[group];
    part.append(shape("title", {}, shades ? samples(row[bar]) : `${data.classes[group]}: ${number(row[bar])}`));
    picture.append(part);
    below += row[bar];
  });
}

function histogram(node, name) {
  const { counts, labels } = node.histogram;
  const totals = counts[0].map((_, bar) => counts.reduce((sum, row) => sum + row[bar], 0));
  const draw = (width) => (labels ? ofCategories(node, name, totals, width) : ofNumbers(node, name, totals, width));
  return responsive(make("div", "histogram"), draw);
}

// The words of a test at its line, on the side with more room.
function cutText(picture, node, x, y, width) {
  const before = x > width / 2;
  const text = fitText(node.sides[0], (before ? x : width - x) - 10, "600 12px system-ui, sans-serif");
  picture.append(shape("text", { x: x + (before ? -5 : 5), y, "text-anchor": before ? "end" : "start", class: "cut-text" }, text));
}

const APART = 56;  // for the bar of the missing values

function ofNumbers(node, name, totals, width) {
  const { low, high, cut, gone, ends } = node.histogram;
  const marks = ends && endTexts(ends, data.features[node.feature].moment).map((text, i) => [ends[i], text]);
  const { picture, toY, box } = axes({ width, height: 170, x: [low, high], y: [0, Math.max(...totals)], xName: name, yName: "samples",
    label: `Histogram of ${name} in this node`, marks, before: gone === "first" ? APART : 0, after: gone === "last" ? APART : 0 });
  const first = gone === "first" ? 1 : 0;
  const step = (box.right - box.left) / (totals.length - (gone ? 1 : 0));
  const middle = first ? box.left - APART / 2 - 4 : box.right + APART / 2 + 4;
  totals.forEach((_, bar) => {
    const apart = gone && bar === (first ? 0 : totals.length - 1);
    const [x, wide] = apart ? [middle - 11, 22] : [box.left + (bar - first) * step + 0.5, Math.max(step - 1, 0.5)];
    stack(picture, node.histogram, bar, (from, to) => ({ x, width: wide, y: toY(to), height: toY(from) - toY(to) }));
  });
  if (gone) {
    picture.append(shape("text", { x: middle, y: box.bottom + 16, "text-anchor": "middle", class: "gone" }, "missing"));
    picture.append(shape("path", { d: `M${middle - 18} ${box.bottom}H${middle + 18}`, class: "axis" }));
  }
  if (cut !== null) {
    // A test whether the value is missing parts that bar from all others.
    const between = gone && (first ? cut === 1 : cut === totals.length - 1);
    const x = between ? (first ? box.left - 8 : box.right + 8) : box.left + (cut - first) * step;
    picture.append(shape("path", { d: `M${x} ${box.top - 8}V${box.bottom}`, class: "cut" }));
    cutText(picture, node, x, box.top - 1, width);
  }
  return picture;
}

// Between two days, the time of day says little and needs much room.
function endTexts(ends, moment) {
  const texts = ends.map((value) => momentText(value, moment));
  const days = texts.map((text) => text.split(" ")[0]);
  return moment.sort === "date" && days[0] !== days[1] ? days : texts;
}

const ROW = 22;

// One row for each category: those on the side of yes, then those on the side of no.
function ofCategories(node, name, totals, width) {
  const { cut, labels } = node.histogram;
  const font = "12px system-ui, sans-serif";
  pen.font = font;
  const longest = Math.max(...labels.map((text) => pen.measureText(text).width));
  const left = Math.min(longest + 10, 0.45 * width);
  const room = width - left - 12 - pen.measureText(number(Math.max(...totals))).width;
  const sides = [["yes", 0, cut], ["no", cut, labels.length]].filter(([, from, to]) => to > from);
  const height = ROW * (labels.length + sides.length) + 4;
  const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "chart", "aria-label": `Samples by ${name} in this node` });
  let top = 0;
  for (const [answer, from, to] of sides) {
    if (top) picture.append(shape("path", { d: `M0 ${top + 3}H${width}`, class: "cut" }));
    picture.append(shape("rect", { x: 0, y: top + ROW, width, height: ROW * (to - from), rx: 4, class: `side ${answer}` }));
    picture.append(shape("text", { x: 0, y: top + 17, class: "cut-text" }, answer));
    top += ROW;
    for (let bar = from; bar < to; bar += 1) {
      const label = shape("text", { x: left - 6, y: top + 15, "text-anchor": "end" }, fitText(labels[bar], left - 8, font));
      label.append(shape("title", {}, labels[bar]));
      const scale = room / Math.max(...totals);
      const y = top + 4;
      stack(picture, node.histogram, bar, (start, end) => ({ x: left + start * scale, width: (end - start) * scale, y, height: ROW - 8 }));
      picture.append(label, shape("text", { x: left + totals[bar] * scale + 6, y: top + 15 }, number(totals[bar])));
      top += ROW;
    }
  }
  return picture;
}
