// How values are shown and typed in, by what a feature holds: numbers, categories or moments. null is a missing value.
const labelsOf = new Map(data.features.filter((feature) => feature.labels).map((feature) => [feature, new Map(feature.labels)]));
const FORMS = { date: "2024-12-31", time: "23:59", duration: "12 hours" };

function valueText(value, feature) {
  if (value === null) return "missing";
  if (feature.labels) return labelsOf.get(feature).get(value) ?? "not in training";
  return feature.moment ? momentText(value, feature.moment) : number(value);
}

class Field {
  constructor(feature, changed) {
    this.feature = feature;
    this.element = feature.labels ? this.choice() : this.line();
    this.element.addEventListener("input", changed);
    this.label = make("label", "", make("span", "", feature.name), this.element);
    this.label.title = feature.name;
    this.set(feature.start);
  }

  // Missing values and categories that training has not seen go somewhere, too.
  choice() {
    const options = [...this.feature.labels, ["", "missing"], [this.feature.others, "another"]];
    return make("select", "", ...options.map(([value, text]) => Object.assign(make("option", "", text), { value })));
  }

  line() {
    const { moment, gaps } = this.feature;
    const input = make("input");
    input.type = moment ? "text" : "number";
    input.step = "any";
    const form = moment ? FORMS[moment.sort] + (moment.sort === "date" && moment.unit !== "D" ? " 23:59" : "") : "a number";
    input.placeholder = gaps ? "empty: missing" : form;
    input.title = gaps ? `${form}; empty: missing` : form;
    return input;
  }

  set(value) {
    const { labels, moment } = this.feature;
    this.element.value = value === null ? "" : labels || !moment ? value : momentText(value, moment);
  }

  // undefined: nothing that a test can take
  get() {
    const text = this.element.value.trim();
    const value = this.read(text);
    this.element.setAttribute("aria-invalid", String(value === undefined && (text !== "" || this.element.validity.badInput)));
    return value;
  }

  read(text) {
    const { labels, moment, gaps } = this.feature;
    if (text === "") return (labels || gaps) && !this.element.validity.badInput ? null : undefined;
    return moment ? momentOf(text, moment) : Number(text);
  }
}
