// Puts everything into its place.
function notes(place) {
  place.append(make("p", "claim", data.claim));
  for (const text of [data.note, data.trouble]) if (text) place.append(make("p", "note", text));
  if (data.note) {
    place.append(make("p", "note", "Boxes, bars and edges of the tree show the training samples, as kept in the model. Histograms, errors and the table show the data given."));
  }
}

function legend(place) {
  data.classes.forEach((name, group) => {
    const patch = make("i", "patch");
    patch.style.background = data.colours[group];
    place.append(make("span", "", patch, name));
  });
  if (data.scale) {
    const [low, high] = data.scale;
    place.append(make("span", "", number(low), make("i", "gradient"), `${number(high)} (${data.targets[0]})`));
  }
  data.bars.forEach((words) => place.append(make("span", "", words)));
}

function fits(place) {
  for (const fit of data.fits) {
    const table = make("table", "scores");
    const names = ["", ...data.trees.map((tree) => tree.title)];
    table.append(make("thead", "", make("tr", "", ...names.map((name) => named("col", name)))));
    const lines = fit.scores.map(([name, ...values]) => make("tr", "", named("row", name), ...values.map((value) => make("td", "number", value || "–"))));
    table.append(make("tbody", "", ...lines));
    const part = make("div", "fit", make("h3", "", `${fit.title}: ${samples(fit.n)}`), make("div", "scroll", table), make("p", "muted", fit.words));
    const errors = make("div", "errors");
    for (const error of fit.errors || []) {
      const title = error.target && data.targets.length > 1 ? `${error.tree}: ${error.target}` : error.tree;
      if (error.matrix) errors.append(confusion(error.matrix, title));
      else errors.append(make("figure", "", make("figcaption", "", title), residuals(error, `Residuals of ${title}`)));
    }
    part.append(errors);
    place.append(part);
  }
}

const views = data.trees.map((tree, index) => new TreeView(tree, index));
notes(document.getElementById("notes"));
legend(document.getElementById("legend"));
const trees = document.getElementById("trees");
// Small trees stand side by side, large ones below each other.
trees.style.setProperty("--room", `${Math.min(1100, Math.max(520, 110 * views[0].leaves))}px`);
views.forEach((view) => trees.append(view.section));
views.forEach((view) => view.start());
const whatIf = new WhatIf(document.getElementById("what-if"), views);
document.getElementById("what-if").hidden = !data.features.length;
fits(document.getElementById("fits"));
drawTrace(document.getElementById("trace"));
new Samples(document.getElementById("samples"), views, whatIf);
