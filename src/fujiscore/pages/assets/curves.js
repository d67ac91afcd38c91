// Curves over k. What all parts share: which kind of value is shown, and what screen readers are told.

const state = { corrected: page.corrected };
const announcer = html("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
let spoken = 0;
/** Tell screen readers, once the keys have come to rest. */
function announce(text) {
  clearTimeout(spoken);
  spoken = setTimeout(() => {
    announcer.textContent = text;
  }, 150);
}

/** Return lines with their numbers, raw or corrected as the page is set. */
function shownLines(lines) {
  const corrected = state.corrected && lines.some((line) => line.corrected);
  return lines
    .filter((line) => !corrected || line.corrected)
    .map((line) => ({
      ...line,
      shown: corrected ? line.corrected : line.values,
      base: corrected && line.expected ? line.expected.map(() => 0) : line.expected,
      band: corrected ? [line.low_corrected, line.high_corrected] : [line.low, line.high],
      suffix: corrected ? ", corrected for chance" : "",
    }));
}

const FLOATS = ["values", "expected", "corrected", "low", "high", "low_corrected", "high_corrected"];
/** Return a part's lines with their arrays unpacked, of one pair where those of many are in a row. */
function unpackLines(lines, length, place = 0) {
  return lines.map((line) => {
    const found = { ...line };
    for (const name of FLOATS) {
      if (typeof line[name] === "string") line[name] = unpack(line[name]);
      if (line[name]) found[name] = line[name].subarray(place * length, (place + 1) * length);
    }
    if (found.expected && !found.corrected) found.corrected = correct(found.values, found.expected);
    return found;
  });
}

/** Draw curves over k on a log axis; return a function that marks a k. */
function drawCurves(place, { ks, lines, onPick }) {
  const area = chart(place, 300, "Curves over k; the values are in the table below", {
    left: 44,
    top: 24,
    right: 14,
    bottom: 42,
  });
  const shown = shownLines(lines);
  let low = 0;
  for (const line of shown) for (const value of line.shown) if (value < low) low = value;
  low = Math.max(Math.floor(low * 5) / 5, -1);
  const x = scale(ks[0], Math.max(ks[ks.length - 1], ks[0] + 1), area.left, area.right, true);
  const y = scale(low, 1, area.bottom, area.top);
  axes(area, x, y, { xLabel: "k, number of top items", yLabel: `similarity${shown[0]?.suffix ?? ""}` });
  const xs = ks.map((k) => x(k));
  const within = (value) => y(Math.min(Math.max(value, low), 1));
  for (const line of shown) {
    const [lows, highs] = line.band;
    if (lows)
      area.svg.append(
        svg("path", { class: "band", d: bandPath(xs, Array.from(lows, within), Array.from(highs, within)) }),
      );
  }
  const first = shown[0];
  if (first?.base) area.svg.append(svg("path", { class: "chance", d: path(xs, Array.from(first.base, within)) }));
  shown
    .slice()
    .reverse()
    .forEach((line) => {
      const style = { stroke: ink(line.colour), class: line === first || line.low ? "main" : "thin" };
      area.svg.append(svg("path", { ...style, fill: "none", d: path(xs, Array.from(line.shown, y)) }));
      if (ks.length <= 40)
        line.shown.forEach(
          (value, i) =>
            Number.isFinite(value) &&
            area.svg.append(svg("circle", { cx: xs[i], cy: y(value), r: 2.5, fill: ink(line.colour) })),
        );
    });
  const mark = svg("line", { class: "mark", y1: area.top, y2: area.bottom, x1: -9, x2: -9 });
  const hover = svg("line", { class: "hover", y1: area.top, y2: area.bottom, x1: -9, x2: -9 });
  const tip = svg("text", { class: "tip", y: area.top - 8, "text-anchor": "middle" });
  area.svg.append(mark, hover, tip);
  const nearest = (event) => {
    const box = area.svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * area.width;
    let best = 0;
    xs.forEach((value, i) => {
      if (Math.abs(value - at) < Math.abs(xs[best] - at)) best = i;
    });
    return best;
  };
  area.svg.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    for (const end of ["x1", "x2"]) hover.setAttribute(end, xs[i]);
    tip.textContent =
      `k = ${ks[i]}: ` +
      shown
        .slice(0, 3)
        .map((line) => `${line.title} ${fixed(line.shown[i], 3)}`)
        .join(", ");
    tip.setAttribute("x", Math.min(Math.max(xs[i], area.left + 110), Math.max(area.right - 110, area.left + 110)));
  });
  area.svg.addEventListener("pointerleave", () => {
    for (const end of ["x1", "x2"]) hover.setAttribute(end, -9);
    tip.textContent = "";
  });
  if (onPick) area.svg.addEventListener("click", (event) => onPick(nearest(event)));
  return (i) => {
    for (const end of ["x1", "x2"]) mark.setAttribute(end, xs[i]);
  };
}

/** Return the legend of curves. */
function curveLegend(lines) {
  const shown = shownLines(lines);
  const entries = shown.map((line, i) => ({
    title: line.title + line.suffix,
    colour: ink(line.colour),
    kind: i && !line.low ? "thin" : "main",
  }));
  if (shown[0]?.base) entries.push({ title: `${shown[0].title} by chance`, kind: "chance" });
  if (shown[0]?.band[0])
    entries.push({ title: shown[0].base ? "95% band of chance, all k at once" : "interval", kind: "band" });
  return legend(entries);
}

/** Return the values of curves as a table. */
function curveTable(ks, lines) {
  const shown = shownLines(lines);
  const header = ["k"];
  const columns = [ks];
  for (const line of shown) {
    header.push(line.title + line.suffix);
    columns.push(line.shown);
    if (line.base) {
      header.push(`${line.title} by chance`);
      columns.push(line.base);
    }
    if (line.band[0]) {
      header.push("low", "high");
      columns.push(...line.band);
    }
  }
  return table(
    "Values of the curves",
    header,
    ks.map((_, i) => columns.map((column) => Number(brief(column[i]) === "-" ? NaN : column[i].toPrecision(5)))),
  );
}

function curvesView(section, part) {
  const lines = unpackLines(part.lines, part.ks.length);
  const place = html("div", { class: "chart" });
  section.append(
    place,
    curveLegend(lines),
    alternative("Values as a table", () => curveTable(part.ks, lines)),
  );
  drawCurves(place, { ks: part.ks, lines });
}
