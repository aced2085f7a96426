// Pictures with axes: residuals, the search, and the frame of histograms.

// Ranges that floats cannot hold have no ticks but their ends.
function ticks([low, high], count) {
  return Number.isFinite(high - low) ? d3.ticks(low, high, count) : [low, high];
}

// A frame with ticks, or with these texts at both ends; returns the picture and the scales of both axes.
function axes({ width, height, x, y, xName, yName, label, marks, before = 0, after = 0 }) {
  const values = ticks(y, 4);
  pen.font = "12px system-ui, sans-serif";
  const left = Math.max(30, 10 + Math.max(0, ...values.map((value) => pen.measureText(number(value)).width)));
  const box = { left: left + before, right: width - 12 - after, top: 24, bottom: height - 40 };
  const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "chart" });
  const along = ([low, high], start, end) => (value) => start + ((value / 2 - low / 2) / (high / 2 - low / 2 || 1)) * (end - start);
  const toX = along(x, box.left, box.right);
  const toY = along(y, box.bottom, box.top);
  for (const [i, [value, text]] of (marks ?? []).entries()) {
    picture.append(shape("text", { x: toX(value), y: box.bottom + 16, "text-anchor": i ? "end" : "start" }, text));
  }
  for (const value of marks ? [] : ticks(x, Math.max(3, (box.right - box.left) / 140))) {
    picture.append(shape("text", { x: toX(value), y: box.bottom + 16, "text-anchor": "middle" }, number(value)));
  }
  for (const value of values) {
    picture.append(shape("path", { d: `M${left} ${toY(value)}H${width - 12}`, class: "grid" }));
    picture.append(shape("text", { x: left - 6, y: toY(value) + 4, "text-anchor": "end" }, number(value)));
  }
  picture.append(shape("path", { d: `M${box.left} ${box.bottom}H${box.right}`, class: "axis" }));
  picture.append(shape("text", { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }, fitText(xName, box.right - box.left, "12px sans-serif")));
  picture.append(shape("text", { x: 0, y: 11 }, yName));
  return { picture, toX, toY, box };
}

// Residuals against predictions; the darker a cell, the more samples lie in it.
function residuals(cells, title) {
  const most = Math.max(...cells.cells.map((cell) => cell[2]));
  const widened = ([low, high]) => (low === high ? [low - 1, high + 1] : [low, high]);
  const draw = (width) => {
    const { picture, toX, toY, box } = axes({ width, height: 260, x: widened(cells.x), y: widened(cells.y),
      xName: "predicted", yName: "residual: true less predicted", label: title });
    const wide = (box.right - box.left) / cells.across;
    const tall = (box.bottom - box.top) / cells.up;
    for (const [i, j, count] of cells.cells) {
      const part = shape("rect", { x: box.left + i * wide, y: box.bottom - (j + 1) * tall, width: wide, height: tall, rx: 1.5, class: "cell" });
      part.style.fillOpacity = 0.15 + 0.85 * Math.sqrt(count / most);
      part.append(shape("title", {}, samples(count)));
      picture.append(part);
    }
    const [least, largest] = widened(cells.y);
    if (least * largest < 0) picture.append(shape("path", { d: `M${box.left} ${toY(0)}H${box.right}`, class: "cut" }));
    return picture;
  };
  return responsive(make("div", "residuals"), draw);
}

// Rows are the true classes, columns the predicted ones; the darker, the larger the share of the row.
function confusion(matrix, title) {
  const table = make("table", "confusion");
  table.append(make("caption", "", title));
  const head = make("tr", "", make("th", "corner", "true ↓ predicted →"));
  data.classes.forEach((name) => head.append(named("col", name)));
  table.append(make("thead", "", head));
  const body = make("tbody");
  matrix.forEach((row, i) => {
    const line = make("tr", "", named("row", data.classes[i]));
    const total = row.reduce((sum, count) => sum + count, 0) || 1;
    row.forEach((count, j) => {
      const cell = make("td", i === j ? "hit" : "miss", number(count));
      cell.style.setProperty("--share", `${Math.round((100 * count) / total)}%`);
      cell.title = `${data.classes[i]} predicted as ${data.classes[j]}: ${number(count)}`;
      line.append(cell);
    });
    body.append(line);
  });
  table.append(body);
  return make("div", "scroll", table);
}

function named(scope, name) {
  const cell = make("th", "", make("span", "", name));
  cell.scope = scope;
  cell.title = name;
  return cell;
}

// Bounds over time, as steps: a value holds until the next change.
function drawTrace(place) {
  if (data.trace.length < 2) {
    place.append(make("p", "muted", "There was nothing to search: no bound has changed."));
    return;
  }
  const last = Math.max(...data.trace.map((row) => row[0]), 1e-9);
  const highest = Math.max(...data.trace.map((row) => row[2]), 1e-9);
  const draw = (width) => {
    const { picture, toX, toY } = axes({ width, height: 260, x: [0, last], y: [0, highest], xName: "seconds", yName: "objective",
      label: "Lower bound and best tree over the seconds of the search" });
    const path = (column) => data.trace.map((row, i) => (i ? `H${toX(row[0])}V${toY(row[column])}` : `M${toX(row[0])} ${toY(row[column])}`)).join("");
    picture.append(shape("path", { d: path(2), class: "line best" }), shape("path", { d: path(1), class: "line bound" }));
    return picture;
  };
  place.append(
    make("p", "legend", make("span", "key best"), "best tree", make("span", "key bound"), "lower bound: no tree is better"),
    responsive(make("div", "trace"), draw),
  );
}
