// Values to type in: the path that a sample with them takes through every tree.
class WhatIf {
  constructor(place, views) {
    this.views = views;
    this.inputs = data.features.map(({ name, median }) => {
      const input = make("input");
      input.type = "number";
      input.step = "any";
      input.value = median;
      input.addEventListener("input", () => this.follow());
      const label = make("label", "", make("span", "", name), input);
      label.title = name;
      return { input, label };
    });
    this.result = make("p", "result");
    this.result.setAttribute("aria-live", "polite");
    const clear = button("clear", "Clear path", "", () => this.clear());
    const show = button("show-path", "Show path", "", () => this.follow());
    place.append(make("div", "inputs", ...this.inputs.map(({ label }) => label)), make("p", "buttons", show, clear), this.result);
    this.clear();
  }

  set(values) {
    values.forEach((value, i) => { this.inputs[i].input.value = value; });
    this.follow();
  }

  follow() {
    const values = this.inputs.map(({ input }) => input.valueAsNumber);
    this.result.replaceChildren();
    this.views.forEach((view) => {
      const leaf = view.follow(values);
      const text = leaf ? `${data.target} = ${leaf.prediction}` : "a value on the path is missing";
      const patch = make("i", "patch");
      if (leaf) patch.style.background = colourOf(leaf);
      this.result.append(make("span", "prediction", `${view.title}: `, patch, make("b", "", text)));
    });
  }

  clear() {
    this.views.forEach((view) => view.forget());
    this.result.replaceChildren(make("span", "muted", "Type values, or choose a sample in the table below: its path lights up. The values are medians to begin with."));
  }
}
