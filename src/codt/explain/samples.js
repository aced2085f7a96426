function cell(value, i) {
  const feature = data.features[i];
  const text = valueText(value, feature);
  const element = make("td", value === null ? "gone" : feature.labels || feature.moment ? "" : "number", text);
  element.title = text;
  return element;
}

// The table of samples: all that the page holds, those predicted wrongly, or those of a node.
class Samples {
  constructor(place, views, whatIf) {
    this.whatIf = whatIf;
    this.views = views;
    this.chosen = null;
    this.filter = make("select", "", ...["all", "predicted wrongly", "in the chosen node"].map((text) => make("option", "", text)));
    if (data.task === "regression") this.filter.options[1].remove();
    this.filter.setAttribute("aria-label", "Which samples");
    this.filter.addEventListener("change", () => this.draw());
    this.count = make("span", "muted");
    this.body = make("tbody");
    const names = ["row", data.target, ...views.map((view) => view.title), ...data.features.map((feature) => feature.name)];
    const head = make("tr", "", ...names.map((name) => named("col", name)));
    const table = make("table", "samples", make("thead", "", head), this.body);
    const scroll = make("div", "scroll", table);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Samples");
    place.append(make("p", "buttons", make("label", "inline", "Show ", this.filter), this.count), scroll);
    views.forEach((view, i) => view.section.addEventListener("selected", (event) => {
      this.chosen = { leaves: data.samples.leaves[i], nodes: event.detail };
      if (this.filter.selectedOptions[0].text === "in the chosen node") this.draw();
    }));
    this.draw();
  }

  draw() {
    const { rows, targets, values, leaves, n } = data.samples;
    const which = this.filter.selectedOptions[0].text;
    const shown = rows.map((_, i) => i).filter((i) => {
      if (which === "predicted wrongly") return this.views[0].nodes[leaves[0][i]].prediction !== targets[i];
      if (which === "in the chosen node" && this.chosen) return this.chosen.nodes.has(this.chosen.leaves[i]);
      return true;
    });
    this.body.replaceChildren(...shown.map((i) => {
      const predictions = this.views.map((view, tree) => {
        const text = view.nodes[leaves[tree][i]].prediction;
        return make("td", data.task === "classification" && text !== targets[i] ? "wrong" : "", text);
      });
      const go = button("trace-row", String(rows[i]), `Show the path of row ${rows[i]}`, () => {
        this.whatIf.set(values[i]);
        document.getElementById("trees").scrollIntoView({ block: "nearest" });
      });
      return make("tr", "", make("td", "", go), make("td", "", targets[i]), ...predictions, ...values[i].map(cell));
    }));
    const part = rows.length < n ? `; the page holds ${number(rows.length)} of ${number(n)} rows` : "";
    this.count.textContent = `${number(shown.length)} shown${part}. Rows are counted from 0.`;
  }
}
