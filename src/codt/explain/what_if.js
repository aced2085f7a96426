// Values to type in: the path that a sample with them takes through every tree.
class WhatIf {
  constructor(place, views) {
    this.views = views;
    this.fields = data.features.map((feature) => new Field(feature, () => this.follow()));
    this.result = make("p", "result");
    this.result.setAttribute("aria-live", "polite");
    const clear = button("clear", "Clear path", "", () => this.clear());
    const show = button("show-path", "Show path", "", () => this.follow());
    place.append(make("div", "inputs", ...this.fields.map(({ label }) => label)), make("p", "buttons", show, clear), this.result);
    this.clear();
  }

  set(values) {
    values.forEach((value, i) => this.fields[i].set(value));
    this.follow();
  }

  follow() {
    const values = this.fields.map((field) => field.get());
    this.result.replaceChildren();
    this.views.forEach((view) => {
      const end = view.follow(values);
      const patch = make("i", "patch");
      if (!end.sides) patch.style.background = colourOf(end);
      const text = end.sides ? `there is no value of ${end.name}` : `${data.target} = ${end.prediction}`;
      this.result.append(make("span", "prediction", `${view.title}: `, patch, make("b", "", text)));
    });
  }

  clear() {
    this.views.forEach((view) => view.forget());
    this.result.replaceChildren(make("span", "muted", "Type values, or choose a sample in the table below: its path lights up. To begin with, they are medians, or the most frequent categories."));
  }
}
