// One tree: drawn, folded, zoomed, and followed by keys.
const STRONG = "600 13px system-ui, sans-serif";
const ROOM = 126;
// Tests that do not fit into one line have two or three, in boxes that are taller for all.
const SIDE_LINES = Math.max(1, ...data.trees.flatMap((tree) => tree.nodes).filter((node) => node.sides).map(({ sides }) => {
  if (hasRoom(sides[0], ROOM, STRONG, 1)) return 1;
  return sides.some((text) => hasRoom(text, ROOM, STRONG, 2)) ? 2 : 3;
}));
const BOX = { width: ROOM + 24, height: 46 + 16 * SIDE_LINES };
const GAP = { down: { across: 18, along: 62 }, right: { across: 14, along: 60 } };
const WIDEST_EDGE = 26;
const LEGIBLE = 0.62;  // letters of 7.5 pixels; smaller views only on demand

class TreeView {
  constructor(tree, index) {
    this.title = tree.title;
    this.nodes = tree.nodes;
    this.own = !data.note || index > 0;  // CART is grown on the data given
    this.folded = new Set();
    this.lit = new Set();
    this.children = tree.nodes.map(() => []);
    tree.nodes.forEach((node) => { if (node.parent >= 0) this.children[node.parent].push(node.id); });
    this.current = 0;
    this.leaves = tree.nodes.filter((node) => !node.sides).length;
    this.build(tree);
  }

  build(tree) {
    this.canvas = make("div", "canvas");
    this.panel = make("div", "details");
    this.panel.setAttribute("aria-live", "polite");
    const facts = make("dl", "facts");
    tree.facts.forEach(([name, text]) => facts.append(make("div", "", make("dt", "", name), make("dd", "", text))));
    const tools = make("div", "tools",
      button("fold-all", "Fold all", "", () => this.foldAll(true)),
      button("unfold-all", "Unfold all", "", () => this.foldAll(false)),
      button("turn", "Turn", "Draw from the top down or from left to right", () => this.turn()),
      button("zoom-in", "+", "Zoom in", () => this.zoomBy(1.3)),
      button("zoom-out", "−", "Zoom out", () => this.zoomBy(1 / 1.3)),
      button("whole", "Whole tree", "", () => this.show(true)));
    this.section = make("section", "tree", make("h2", "", tree.title), facts, tools, make("div", "stage", this.canvas, this.panel));
    this.section.setAttribute("aria-label", tree.title);
    this.svg = d3.select(this.canvas).append("svg").attr("role", "tree").attr("aria-label", `${tree.title}: arrow keys move, Enter folds`);
    this.view = this.svg.append("g");
    this.edges = this.view.append("g").attr("role", "presentation");
    this.boxes = this.view.append("g").attr("role", "presentation");
    // The wheel alone scrolls the page.
    this.zoom = d3.zoom().scaleExtent([0.08, 3])
      .filter((event) => !event.button && (event.type !== "wheel" || event.ctrlKey || event.metaKey) && event.type !== "dblclick")
      .on("zoom", (event) => {
        this.transform = event.transform;
        this.view.attr("transform", event.transform);
        if (event.sourceEvent) this.moved = true;
      });
    this.svg.call(this.zoom);
  }

  // Called once the section is on the page and has a width.
  start() {
    this.direction = this.fits("down") < Math.min(1, this.fits("right")) ? "right" : "down";
    this.draw();
    this.select(0);
    let width = this.canvas.clientWidth;
    new ResizeObserver(() => {
      if (this.canvas.clientWidth === width) return;
      width = this.canvas.clientWidth;
      if (!this.moved) this.show();
    }).observe(this.canvas);
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  // How much smaller the tree has to be drawn in a direction to fit the canvas.
  fits(direction) {
    const box = this.extent(this.place(direction), direction);
    const room = { width: this.canvas.clientWidth, height: 0.7 * innerHeight };
    return Math.min(room.width / box.width, room.height / box.height);
  }

  place(direction) {
    const gap = GAP[direction];
    const down = direction === "down";
    const size = down ? [BOX.width + gap.across, BOX.height + gap.along] : [BOX.height + gap.across, BOX.width + gap.along];
    const root = d3.hierarchy(this.nodes[0], (node) => (this.folded.has(node.id) ? null : this.children[node.id].map((id) => this.nodes[id])));
    d3.tree().nodeSize(size).separation(() => 1)(root);
    return root.descendants().map((place) => ({
      node: place.data, parent: place.parent && place.parent.data.id, depth: place.depth,
      x: down ? place.x : place.y, y: down ? place.y : place.x,
    }));
  }

  extent(places) {
    const ends = (values, half) => [Math.min(...values) - half, Math.max(...values) + half];
    const [left, right] = ends(places.map((place) => place.x), BOX.width / 2 + 16);
    const [top, bottom] = ends(places.map((place) => place.y), BOX.height / 2 + 18);
    return { left, top, width: right - left, height: bottom - top };
  }

  draw() {
    this.places = this.place(this.direction);
    this.drawEdges();
    this.boxes.selectAll("g.node").data(this.places, (place) => place.node.id).join((enter) => this.enter(enter))
      .attr("transform", (place) => `translate(${place.x},${place.y})`)
      .attr("aria-level", (place) => place.depth + 1)
      .attr("aria-expanded", (place) => (place.node.sides ? String(!this.folded.has(place.node.id)) : null))
      .each((place, i, all) => this.drawFold(place.node, all[i]));
    this.mark();
    if (!this.moved) this.show();
  }

  // Edges leave a node side by side, as wide as their samples.
  drawEdges() {
    const down = this.direction === "down";
    const total = this.nodes[0].n || 1;
    const width = (node) => Math.max(1.5, (WIDEST_EDGE * node.n) / total);
    const at = new Map(this.places.map((place) => [place.node.id, place]));
    const link = (down ? d3.linkVertical() : d3.linkHorizontal());
    const ends = (place) => {
      const above = at.get(place.parent);
      const both = this.children[place.parent].map((id) => width(this.nodes[id]));
      const offset = ((place.node.yes ? -1 : 1) * (both[0] + both[1] - width(place.node))) / 2;
      return down
        ? { source: [above.x + offset, above.y + BOX.height / 2], target: [place.x, place.y - BOX.height / 2] }
        : { source: [above.x + BOX.width / 2, above.y + offset], target: [place.x - BOX.width / 2, place.y] };
    };
    const below = this.places.filter((place) => place.parent !== null);
    this.edges.selectAll("path").data(below, (place) => place.node.id).join("path")
      .attr("class", "edge").attr("d", (place) => link(ends(place))).attr("stroke-width", (place) => width(place.node));
    this.edges.selectAll("text").data(below, (place) => place.node.id).join("text")
      .attr("class", "answer").text((place) => (place.node.yes ? "yes" : "no"))
      .attr("text-anchor", (place) => (down && !place.node.yes ? "start" : "end"))
      .attr("x", (place) => ends(place).target[0] + (down ? (place.node.yes ? -1 : 1) * (width(place.node) / 2 + 4) : -5))
      .attr("y", (place) => ends(place).target[1] + (down ? -6 : place.node.yes ? -width(place.node) / 2 - 4 : width(place.node) / 2 + 12));
  }

  enter(enter) {
    const view = this;
    const boxes = enter.append("g").attr("class", (place) => `node ${place.node.sides ? "inner" : "leaf"}`)
      .attr("role", "treeitem").attr("data-node", (place) => place.node.id).attr("tabindex", -1)
      .attr("aria-label", ({ node }) => `${node.parent < 0 ? "" : node.yes ? "yes: " : "no: "}${node.sides ? `${node.name} ${node.sides[0]}?` : node.prediction}, ${samples(node.n)}`)
      .on("click", (_, place) => view.focus(place.node.id))
      .on("focus", (_, place) => view.select(place.node.id))
      .on("keydown", (event, place) => view.key(event, place));
    boxes.each(function fill({ node }) {
      const [x, y] = [-BOX.width / 2, -BOX.height / 2];
      const box = shape("rect", { x, y, width: BOX.width, height: BOX.height, rx: 8, class: "box" });
      if (!node.sides) box.style.setProperty("--tint", colourOf(node));
      const left = x + 12;
      const first = node.sides ? node.name : node.prediction;
      const bold = node.sides ? "" : "600 ";
      const count = view.own ? samples(node.n) : `${number(node.n)} · ${number(node.here)} here`;
      const title = shape("text", { x: left, y: y + 20, class: node.sides ? "name" : "name strong" }, fitText(first, ROOM, `${bold}13px system-ui, sans-serif`));
      this.append(box, title);
      const second = node.sides ? fitLines(node.sides, ROOM, STRONG, SIDE_LINES) : [fitText(count, ROOM, "11px system-ui, sans-serif")];
      second.forEach((line, i) => this.append(shape("text", { x: left, y: y + 38 + 16 * i, class: node.sides ? "strong" : "count" }, line)));
      if (node.sides) {
        pen.font = STRONG;
        const rest = ROOM - pen.measureText(second[second.length - 1]).width - 6;
        const last = { x: left + ROOM, y: y + 22 + 16 * second.length, "text-anchor": "end", class: "count" };
        if (rest > 24) this.append(shape("text", last, fitText(number(node.n), rest, "11px system-ui, sans-serif")));
      }
      const strip = shape("g", { transform: `translate(${left},${y + BOX.height - 15})` });
      strip.append(shape("rect", { width: ROOM, height: 6, class: "trough" }));
      if (node.counts) bar(node.counts, strip, ROOM, 6);
      else if (node.band) band(node.band, strip, ROOM, 6);
      if (node.counts || node.band) this.append(strip);
      this.append(shape("title", {}, `${first}${node.sides ? ` ${node.sides[0]}` : ""}: ${count}`));
    });
    return boxes;
  }

  // The knob at which a node is folded, on the side of its children.
  drawFold(node, element) {
    element.querySelector(".fold")?.remove();
    if (!node.sides) return;
    const hidden = this.folded.has(node.id);
    const [x, y] = this.direction === "down" ? [0, BOX.height / 2] : [BOX.width / 2, 0];
    const knob = shape("g", { class: "fold", transform: `translate(${x},${y})` });
    knob.append(shape("circle", { r: 9 }), shape("text", { y: 4.5, "text-anchor": "middle" }, hidden ? "+" : "−"));
    knob.addEventListener("click", (event) => {
      event.stopPropagation();
      this.toggle(node.id);
    });
    element.append(knob);
  }

  toggle(id) {
    if (!this.children[id].length) return;
    if (!this.folded.delete(id)) this.folded.add(id);
    this.draw();
    this.focus(id);
  }

  foldAll(fold) {
    this.folded = new Set(fold ? this.nodes.filter((node) => node.sides).map((node) => node.id) : []);
    this.moved = false;
    this.draw();
    if (fold) this.select(0);
  }

  turn() {
    this.direction = this.direction === "down" ? "right" : "down";
    this.moved = false;
    this.draw();
  }

  zoomBy(factor) {
    this.moved = true;
    this.zoom.scaleBy(this.svg, factor);
  }

  // Moves only if some of the path is out of sight.
  showPath() {
    const box = this.extent(this.places.filter((place) => this.lit.has(place.node.id)));
    const room = { width: this.canvas.clientWidth, height: Number(this.svg.attr("height")) };
    const { x, y, k } = this.transform;
    const inside = (start, size, shift, all) => start * k + shift > -1 && (start + size) * k + shift < all + 1;
    if (inside(box.left, box.width, x, room.width) && inside(box.top, box.height, y, room.height)) return;
    const scale = Math.min(1, room.width / box.width, room.height / box.height);
    const start = (low, size, all) => (all - size * scale) / 2 - low * scale;
    this.zoom.transform(this.svg, d3.zoomIdentity.translate(start(box.left, box.width, room.width), start(box.top, box.height, room.height)).scale(scale));
  }

  // The whole tree if it is legible then, or if that is asked for; otherwise the part around the root.
  show(whole = false) {
    if (this.printing) return;
    const box = this.extent(this.places);
    const width = this.canvas.clientWidth;
    const tallest = Math.max(260, Math.min(0.72 * innerHeight, 820));
    const fit = Math.min(1, width / box.width, tallest / box.height);
    const scale = whole ? fit : Math.max(fit, Math.min(LEGIBLE, 1));
    const height = Math.min(tallest, Math.max(200, box.height * scale));
    this.svg.attr("width", width).attr("height", height);
    const root = this.places[0];
    const middle = (room, size, start, at, first) => {
      if (size * scale < room) return (room - size * scale) / 2 - start * scale;
      return first ? -start * scale : Math.min(-start * scale, Math.max(room - (start + size) * scale, room / 2 - at * scale));
    };
    const down = this.direction === "down";
    const x = middle(width, box.width, box.left, root.x, !down);
    const y = middle(height, box.height, box.top, root.y, down);
    this.zoom.transform(this.svg, d3.zoomIdentity.translate(x, y).scale(scale));
    if (this.lit.size && !whole) this.showPath();
  }

  // On paper all of the tree is drawn, whatever part is looked at.
  print(starts) {
    const box = this.extent(this.places);
    this.printing = starts;
    this.view.attr("transform", starts ? null : this.transform);
    this.svg.attr("viewBox", starts ? `${box.left} ${box.top} ${box.width} ${box.height}` : null);
  }

  focus(id) {
    const element = this.boxes.selectAll("g.node").filter((place) => place.node.id === id).node();
    element?.focus({ preventScroll: true });
  }

  select(id) {
    this.current = id;
    this.mark();
    this.keepInView(id);
    const node = this.nodes[id];
    const fold = node.sides ? button("fold-this", this.folded.has(id) ? "Unfold" : "Fold", "", () => this.toggle(id)) : null;
    describe(node, this.panel, this.own, fold);
    this.section.dispatchEvent(new CustomEvent("selected", { bubbles: true, detail: this.subtree(id) }));
  }

  subtree(id) {
    return new Set([id, ...this.children[id].flatMap((child) => [...this.subtree(child)])]);
  }

  // Pans no further than needed.
  keepInView(id) {
    const place = this.places.find((other) => other.node.id === id);
    if (!place) return;
    const { x, y, k: scale } = this.transform;
    const shift = (at, half, start, room) => Math.max(0, half - (at * scale + start)) - Math.max(0, at * scale + start + half - room);
    const dx = shift(place.x, (BOX.width / 2) * scale + 8, x, this.canvas.clientWidth);
    const dy = shift(place.y, (BOX.height / 2) * scale + 12, y, Number(this.svg.attr("height")));
    if (dx || dy) this.zoom.translateBy(this.svg, dx / scale, dy / scale);
  }

  key(event, { node, depth }) {
    const along = this.direction === "down" ? ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] : ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
    const level = this.places.filter((place) => place.depth === depth).map((place) => place.node.id);
    const beside = (step) => level[level.indexOf(node.id) + step];
    const moves = {
      [along[0]]: () => (node.parent < 0 ? undefined : node.parent),
      [along[1]]: () => (this.folded.has(node.id) ? undefined : this.children[node.id][0]),
      [along[2]]: () => beside(-1),
      [along[3]]: () => beside(1),
      Home: () => 0,
    };
    if (event.key === "Enter" || event.key === " ") this.toggle(node.id);
    else if (moves[event.key]) this.focus(moves[event.key]());
    else return;
    event.preventDefault();
  }

  // Lights up the path of a sample; returns its leaf, or the node whose value is not known.
  follow(values) {
    this.lit = new Set();
    let node = this.nodes[0];
    while (node.sides && values[node.feature] !== undefined) {
      this.lit.add(node.id);
      node = this.nodes[this.children[node.id][goesLeft(node, values) ? 0 : 1]];
    }
    this.lit.add(node.id);
    this.lit.forEach((id) => this.folded.delete(id));
    this.draw();
    this.showPath();
    this.select(node.id);
    return node;
  }

  forget() {
    this.lit = new Set();
    this.mark();
  }

  mark() {
    const shown = this.places.some((place) => place.node.id === this.current) ? this.current : 0;
    this.section.classList.toggle("following", this.lit.size > 0);
    this.edges.selectAll("path").classed("lit", (place) => this.lit.has(place.node.id));
    this.boxes.selectAll("g.node")
      .classed("lit", (place) => this.lit.has(place.node.id))
      .classed("selected", (place) => place.node.id === this.current)
      .attr("aria-selected", (place) => String(place.node.id === this.current))
      .attr("tabindex", (place) => (place.node.id === shown ? 0 : -1));
  }
}
