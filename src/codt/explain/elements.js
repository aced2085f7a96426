// Elements, numbers and colours. Every text goes in by textContent, so that no name is ever read as markup.
const data = JSON.parse(document.getElementById("data").textContent);

function make(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

function button(className, text, label, act) {
  const element = make("button", className, text);
  element.type = "button";
  if (label) element.setAttribute("aria-label", label);
  if (label) element.title = label;
  element.addEventListener("click", act);
  return element;
}

function shape(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function number(value) {
  const short = Number(value.toPrecision(6));
  const size = Math.abs(short);
  return size > 9999 && size < 1e15 ? short.toLocaleString("en") : String(short);
}

function samples(count) {
  return `${number(count)} ${count === 1 ? "sample" : "samples"}`;
}

// The colour of a place between the least and the largest prediction, which depends on the scheme.
function shade(place) {
  return `color-mix(in oklab, var(--least), var(--most) ${Math.round(100 * place)}%)`;
}

function colourOf(node) {
  return node.shade === undefined ? data.colours[node.group] : shade(node.shade);
}

const pen = document.createElement("canvas").getContext("2d");

// As much of a text as fits into a width, with an ellipsis where something is left out.
function fitText(text, width, font) {
  pen.font = font;
  if (pen.measureText(text).width < width) return text;
  let end = Math.min(text.length, 200);
  while (end > 1 && pen.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

function linesOf(text, width, font) {
  pen.font = font;
  return text.split(" ").reduce((lines, word) => {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    return lines.length && pen.measureText(longer).width < width ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
}

function hasRoom(text, width, font, most) {
  const lines = linesOf(text, width, font);
  return !(lines.length > most) && lines.every((line) => pen.measureText(line).width < width);
}

// The first of some texts that fits into so many lines, which end at blanks; of the last, as much as fits.
function fitLines(texts, width, font, most) {
  const text = texts.find((one) => hasRoom(one, width, font, most)) ?? texts[texts.length - 1];
  const lines = linesOf(text, width, font);
  const rest = lines.slice(most - 1).join(" ");
  return [...lines.slice(0, most - 1), rest].filter(Boolean).map((line) => fitText(line, width, font));
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // not allowed here: the old way
    const area = make("textarea", "", text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// A picture that is drawn anew whenever its place gets another width.
function responsive(place, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(place.clientWidth - width) < 2 || !place.clientWidth) return;
    width = place.clientWidth;
    place.replaceChildren(draw(width));
  }).observe(place);
  return place;
}
