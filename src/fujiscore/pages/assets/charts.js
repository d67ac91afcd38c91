// Drawing: elements, scales, axes, lines, bars and heat maps as inline SVG. Names are only ever set as text.

const SVG = "http://www.w3.org/2000/svg";
// Cividis, which is readable with any colour vision: the colours of heat maps everywhere in fujiscore.
const CIVIDIS = [
  "#00224e",
  "#123570",
  "#3b496c",
  "#575d6d",
  "#707173",
  "#8a8678",
  "#a59c74",
  "#c3b369",
  "#e1cc55",
  "#fee838",
].map((code) => [1, 3, 5].map((start) => parseInt(code.slice(start, start + 2), 16)));

/** Return a new HTML element with attributes and children; texts among these become text nodes. */
function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return a new SVG element. */
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return a name that keeps its direction of writing to itself. */
const isolated = (name) => html("bdi", {}, name);

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

const channels = (colour) => [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => ((part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Return a measure's colour; on a dark ground dark ones are lightened until they can be told from it. */
function ink(colour) {
  let rgb = channels(colour);
  while (isDark() && luminance(rgb) < 0.12) rgb = rgb.map((part) => Math.round(part + (255 - part) * 0.15));
  return `rgb(${rgb.join(",")})`;
}

/** Return the colour of a value between 0 and 1 in a heat map, and whether text on it has to be light. */
function heat(share) {
  const place = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const start = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const rgb = CIVIDIS[start].map((part, i) => Math.round(part + (CIVIDIS[start + 1][i] - part) * (place - start)));
  return { rgb, fill: `rgb(${rgb.join(",")})`, dark: luminance(rgb) < 0.18 };
}

const ruler = document.createElement("canvas").getContext("2d");
ruler.font = `bold 12px ${getComputedStyle(document.body).fontFamily}`;
/** Return the width of a chart's text in pixels, as wide as it can be. */
const textWidth = (text) => ruler.measureText(text).width;

/** Return a name with its middle left out where it is wider than so many pixels: letters differ in width. */
function fitted(name, most) {
  let count = Math.min(Array.from(name).length, Math.ceil(most / 2));
  let result = shortened(name, count);
  for (let width = textWidth(result); width > most && count > 1; width = textWidth(result)) {
    count = Math.max(1, Math.min(count - 1, Math.floor((count * most) / width)));
    result = shortened(name, count);
  }
  return result;
}

/** Return the width of the widest name. */
const widest = (names) => names.reduce((most, name) => Math.max(most, textWidth(name)), 0);

/** Return a linear or logarithmic scale with its ticks. */
function scale(low, high, from, to, log = false) {
  const bend = log ? Math.log : (value) => value;
  const span = bend(high) - bend(low) || 1;
  const at = (value) => from + ((bend(value) - bend(low)) / span) * (to - from);
  at.ticks = (most) => (log ? logTicks(low, high, most) : linearTicks(low, high, most));
  return at;
}

function linearTicks(low, high, most) {
  const raw = (high - low || 1) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high, most) {
  for (const factors of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let power = 1; power <= high; power *= 10) {
      ticks.push(...factors.map((factor) => factor * power).filter((tick) => tick >= low && tick <= high));
    }
    if (ticks.length <= most || factors.length === 1) return ticks;
  }
  return [];
}

/** Return an empty chart of the width of its place, with a title for screen readers. */
function chart(place, height, label, margin) {
  const width = Math.max(place.clientWidth || 640, 200);
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  place.replaceChildren(drawing);
  return { svg: drawing, width, height, ...margin, right: width - margin.right, bottom: height - margin.bottom };
}

/** Draw both axes with grid lines and labels. */
function axes(area, x, y, { xLabel, yLabel, xTicks, yTicks }) {
  const across = xTicks ?? x.ticks(Math.floor((area.right - area.left) / 55));
  for (const tick of across) {
    area.svg.append(
      svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: area.top, y2: area.bottom }),
      svg("text", { class: "tick", x: x(tick), y: area.bottom + 16, "text-anchor": "middle" }, String(tick)),
    );
  }
  for (const tick of yTicks ?? y.ticks(6)) {
    area.svg.append(
      svg("line", { class: "grid", x1: area.left, x2: area.right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick", x: area.left - 6, y: y(tick) + 4, "text-anchor": "end" }, String(tick)),
    );
  }
  if (xLabel) {
    const middle = (area.left + area.right) / 2;
    area.svg.append(svg("text", { class: "axis", x: middle, y: area.height - 4, "text-anchor": "middle" }, xLabel));
  }
  if (yLabel) area.svg.append(svg("text", { class: "axis", x: 2, y: 12 }, yLabel));
}

/** Return the path through points; undefined values leave gaps. */
function path(xs, ys) {
  let result = "";
  let open = false;
  for (let i = 0; i < xs.length; i++) {
    if (!Number.isFinite(ys[i])) {
      open = false;
      continue;
    }
    result += `${open ? "L" : "M"}${xs[i].toFixed(1)} ${ys[i].toFixed(1)}`;
    open = true;
  }
  return result;
}

/** Return the path around a band. */
function bandPath(xs, lows, highs) {
  const known = xs.map((_, i) => i).filter((i) => Number.isFinite(lows[i]) && Number.isFinite(highs[i]));
  if (known.length < 2) return "";
  const forth = known.map((i) => `${xs[i].toFixed(1)} ${highs[i].toFixed(1)}`);
  const back = known.reverse().map((i) => `${xs[i].toFixed(1)} ${lows[i].toFixed(1)}`);
  return `M${forth.join("L")}L${back.join("L")}Z`;
}

/** Move labels apart: return the places nearest to those wanted that are at least a step from each other. */
function apart(wanted, step, top, bottom) {
  const order = wanted.map((_, i) => i).sort((i, j) => wanted[i] - wanted[j] || i - j);
  // Isotonic regression: neighbours that would overlap form a block around their mean.
  const blocks = [];
  order.forEach((i, rank) => {
    let block = { sum: wanted[i] - rank * step, count: 1 };
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].count > block.sum / block.count) {
      const before = blocks.pop();
      block = { sum: before.sum + block.sum, count: before.count + block.count };
    }
    blocks.push(block);
  });
  const places = wanted.slice();
  let rank = 0;
  for (const { sum, count } of blocks) {
    for (let t = 0; t < count; t++, rank++) {
      const highest = Math.max(bottom - (order.length - 1) * step, top);
      places[order[rank]] = Math.min(Math.max(sum / count, top), highest) + rank * step;
    }
  }
  return places;
}

/** Return whether a text is a number, a percentage or an interval; no value is none of another kind. */
const isNumeral = (value) => !(value instanceof Node) && !/[^\d.,+\-–%e<= ]/.test(value ?? "-");

/** Return a table within a box that scrolls by itself. */
function table(caption, header, rows) {
  const cell = (value) =>
    value instanceof Node ? value : typeof value === "number" ? brief(value) : isolated(value ?? "-");
  const isNumeric = header.map(
    (_, column) =>
      column > 0 &&
      rows.every(({ [column]: value }) => typeof value === "number" || isNumeral(value)),
  );
  const isLong = (value) => Array.from((value instanceof Node ? value.textContent : String(value)) ?? "").length > 24;
  const kindOf = (column, value) => (isNumeric[column] ? "number" : isLong(value) ? "long" : "short");
  const body = rows.map((row) =>
    html(
      "tr",
      {},
      ...row.map((value, column) =>
        html(
          column === 0 ? "th" : "td",
          { scope: column === 0 ? "row" : null, class: kindOf(column, value) },
          cell(value),
        ),
      ),
    ),
  );
  const head = header.map((name, column) =>
    html("th", { scope: "col", class: isNumeric[column] ? "number" : kindOf(column, name) }, isolated(name)),
  );
  return html(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    html(
      "table",
      {},
      html("caption", {}, caption),
      html("thead", {}, html("tr", {}, ...head)),
      html("tbody", {}, ...body),
    ),
  );
}

/** Return the table behind a chart, made when it is opened. */
function alternative(title, make) {
  const details = html("details", {}, html("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(make());
  });
  return details;
}

/** Return the legend of a chart's lines. */
function legend(entries) {
  return html(
    "ul",
    { class: "legend" },
    ...entries.map(({ title, colour, kind }) =>
      html(
        "li",
        {},
        svg(
          "svg",
          { width: 24, height: 12, "aria-hidden": "true" },
          kind === "band"
            ? svg("rect", { class: "band", x: 0, y: 1, width: 24, height: 10 })
            : svg("line", { x1: 0, x2: 24, y1: 6, y2: 6, stroke: colour ?? "currentColor", class: kind ?? "thin" }),
        ),
        " ",
        isolated(title),
      ),
    ),
  );
}
