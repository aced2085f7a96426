// Dates, times and durations: numbers of a unit, as texts and back, in the way of the tree's own texts.
const UNITS = [
  ["D", 86400000000000n, "days"], ["h", 3600000000000n, "hours"], ["m", 60000000000n, "minutes"], ["s", 1000000000n, "seconds"],
  ["ms", 1000000n, "milliseconds"], ["us", 1000n, "microseconds"], ["ns", 1n, "nanoseconds"],
];
const DIGITS = { ms: 3, us: 6, ns: 9 };
const DAY = UNITS[0][1];
const LAST_DAY = 100000000n;  // of what a Date can hold, from 1970 on and before

function sizeOf(unit) {
  return UNITS.find(([letter]) => letter === unit)[1];
}

// Exact for whole numbers, which floats of nanoseconds would not be.
function nanoseconds(count, unit) {
  const whole = Math.floor(count);
  return BigInt(whole) * sizeOf(unit) + BigInt(Math.round((count - whole) * Number(sizeOf(unit))));
}

function countOf(total, unit) {
  return Number(total / sizeOf(unit)) + Number(total % sizeOf(unit)) / Number(sizeOf(unit));
}

function momentText(count, { sort, unit, zone }) {
  const total = nanoseconds(count, unit);
  if (sort === "duration") {
    const [, size, name] = UNITS.find((one) => total % one[1] === 0n);
    return `${total / size} ${name}`;
  }
  const clock = ((total % DAY) + DAY) % DAY;
  const day = (total - clock) / DAY;
  if (sort === "time") return clockText(clock, unit);
  if (day > LAST_DAY || -day > LAST_DAY) return `${count} ${UNITS.find(([letter]) => letter === unit)[2]}`;
  const [date] = new Date(Number(day) * 86400000).toISOString().replace(/^\+0*/, "").split("T");
  return `${date}${unit === "D" && !clock ? "" : ` ${clockText(clock, unit)}`}${zone ? " UTC" : ""}`;
}

// To the minute, or as precisely as it is needed.
function clockText(clock, unit) {
  const two = (value) => String(value).padStart(2, "0");
  const minutes = clock / 60000000000n;
  const seconds = (clock / 1000000000n) % 60n;
  const fraction = String(clock % 1000000000n).padStart(9, "0");
  const shown = Number(fraction.slice(DIGITS[unit] ?? 0)) ? fraction : fraction.slice(0, DIGITS[unit] ?? 0);
  const text = `${two(minutes / 60n)}:${two(minutes % 60n)}`;
  if (Number(shown)) return `${text}:${two(seconds)}.${shown}`;
  return seconds ? `${text}:${two(seconds)}` : text;
}

// The number that a text stands for; undefined if it is none.
function momentOf(text, { sort, unit }) {
  if (sort === "duration") return durationOf(text, unit);
  const found = /^(?:([+-]?\d{4,6})-(\d\d)-(\d\d))?[T ]?(?:(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(?: ?UTC|Z)?$/.exec(text);
  if (!found || (found[1] === undefined) === (sort === "date") || (sort === "time" && !found[4])) return undefined;
  const [year, month, day, hours, minutes, seconds] = found.slice(1, 7).map((part) => Number(part ?? 0));
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  let total = BigInt((hours * 60 + minutes) * 60 + seconds) * 1000000000n + BigInt((found[7] ?? "").padEnd(9, "0"));
  if (sort === "date") {
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    // There is no 30 February.
    if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
    total += BigInt(date.getTime()) * 1000000n;
  }
  return countOf(total, unit);
}

function durationOf(text, unit) {
  const found = /^(-?\d+(?:\.\d+)?) *([a-z]*)$/.exec(text);
  if (!found) return undefined;
  const named = UNITS.find(([letter, , name]) => (found[2] ? [name, name.slice(0, -1)].includes(found[2]) : letter === unit));
  if (!named) return undefined;
  const [of, to] = [Number(named[1]), Number(sizeOf(unit))];
  return of > to ? Number(found[1]) * (of / to) : Number(found[1]) / (to / of);
}
