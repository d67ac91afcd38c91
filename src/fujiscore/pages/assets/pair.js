// Two rankings: curves, a slider for k, and the items of both top sets as a slope chart and a table.

/** Show two rankings: curves over k, a slider for k, and the items of both top sets at that k. */
function pairView(section, part) {
  const held = part.tops === null || part.tops === undefined ? null : tops[part.tops];
  const { ks, pair } = part;
  const lines = unpackLines(part.lines, ks.length, part.place ?? 0);
  const names = part.names;
  const place = html("div", { class: "chart" });
  const items = html("div", { class: "items" });
  const output = html("output", { class: "reading" });
  const slider = html("input", {
    type: "range",
    min: 0,
    max: ks.length - 1,
    step: 1,
    "aria-label": "k, number of top items",
  });
  let mark = () => {};
  const show = () => {
    const i = Number(slider.value);
    part.start = ks[i];
    part.remember?.(ks[i]);
    mark(i);
    const values = shownLines(lines).map(
      (line) =>
        `${line.title} ${fixed(line.shown[i])}` +
        (line.base && !line.suffix ? ` (chance ${fixed(line.base[i])})` : line.suffix),
    );
    const text = `k = ${ks[i]}: ${values.join(", ")}`;
    output.replaceChildren(isolated(text));
    slider.setAttribute("aria-valuetext", text);
    drawItems(items, held, part, ks[i]);
  };
  slider.addEventListener("input", show);
  const pick = (i) => {
    slider.value = i;
    show();
  };
  const found = ks.findIndex((k) => k >= part.start);
  slider.value = found < 0 ? ks.length - 1 : found;
  section.append(
    place,
    curveLegend(lines),
    html("div", { class: "slider" }, html("label", {}, html("span", {}, "k"), slider), output),
    items,
    alternative("Values of the curves as a table", () => curveTable(ks, lines)),
  );
  if (part.said) section.append(html("p", { class: "said" }, part.said));
  mark = drawCurves(place, { ks, lines, onPick: pick });
  show();
}

const KINDS = { "far miss": "far", "near miss": "near", "opposite sign": "far", shared: "shared" };

/** Draw the items of two top sets at k: in words, as a slope chart, and as a table. */
function drawItems(place, held, { pair, names, least }, k) {
  if (!held) {
    place.replaceChildren(
      html("p", { class: "said" }, "The items are not on this page: the rankings were not in memory."),
    );
    return;
  }
  const found = held.explain(pair[0], pair[1], k);
  if (!found) {
    place.replaceChildren(html("p", { class: "said" }, `Items are on this page up to k = ${held.depth}.`));
    return;
  }
  const { counts } = found;
  const opposite = counts["opposite sign"] ? `, ${counts["opposite sign"]} of opposite sign` : "";
  const values = `FUJI ${least ? "at least " : ""}${fixed(found.fuji)}, Jaccard ${fixed(found.jaccard)}`;
  const words = found.undefinedAtZero
    ? `At k = ${k} FUJI is undefined: the k-th score is 0 on both sides.`
    : `At k = ${k}: ${counts.shared} shared, ${plural(counts["near miss"], "near miss")}, ` +
      `${plural(counts["far miss"], "far miss")}${opposite}. ${values}${state.corrected ? ", not corrected for chance" : ""}.`;
  const area = html("div", { class: "chart" });
  const wasOpen = place.querySelector("details")?.open;
  const details = alternative("Items as a table", () => itemTable(held, pair, names, found));
  place.replaceChildren(
    html("h3", {}, `Items in the top ${k}`),
    html("p", {}, words),
    area,
    slopeLegend(counts),
    details,
  );
  drawSlopes(area, held, pair, names, found);
  if (wasOpen) details.open = true;
}

function slopeLegend(counts) {
  const entries = [
    { title: "far miss", kind: "far" },
    { title: "near miss (closer to the last score than to the mean outside)", kind: "near" },
    { title: "shared", kind: "shared" },
  ];
  return legend(
    counts["opposite sign"] ? [{ title: "opposite sign (as far misses)", kind: "far" }, ...entries] : entries,
  );
}

const byRank = (one, other) => Math.min(...one.ranks) - Math.min(...other.ranks) || one.item - other.item;

/** Return the rows that a chart has room for: far misses first, then near ones, then shared items. */
function picked(rows, most) {
  const groups = [["far miss", "opposite sign"], ["near miss"], ["shared"]].map((kinds) =>
    rows.filter((row) => kinds.includes(row.kind)).sort(byRank),
  );
  const shares = [Math.ceil(most / 2), Math.ceil(most / 3), most];
  const chosen = [];
  groups.forEach((group, i) => chosen.push(...group.slice(0, Math.min(shares[i], most - chosen.length))));
  return chosen;
}

// Scores above the k-th take at most this many times the room of those below it; items that are not listed are below 0.
const ABOVE = 1.5;
const UNLISTED = -0.16;

/** Return how high items stand in both rankings: up to the k-th score in proportion, above it with the logarithm. */
function heights(held, pair, rows, last) {
  const relative = pair.map((ranking, side) => {
    const scores = rows.map((row) => held.counted(ranking, row.item));
    const unit = last[side] > 0 ? last[side] : held.leastPositive(ranking);
    return rows.map((row, i) => (Number.isNaN(held.score(ranking, row.item)) ? NaN : scores[i] / unit));
  });
  const most = Math.max(2, ...relative.flat().filter(isNumber));
  const height = (x) => (Number.isNaN(x) ? UNLISTED : x <= 1 ? x : 1 + (ABOVE * Math.log(x)) / Math.log(most));
  return { places: relative.map((side) => side.map(height)), height, most };
}

/** Draw the items as lines between two columns, placed by score relative to the k-th score. */
function drawSlopes(place, held, pair, names, found) {
  const narrow = place.clientWidth < 520;
  const rows = picked(found.rows, narrow ? 24 : 36);
  const room = Math.min(Math.max(place.clientWidth * 0.3, 90), 230);
  const area = chart(
    place,
    Math.max(240, 70 + 15 * rows.length),
    "Items placed by score relative to the k-th score in both rankings; the items are in the table below",
    { left: room, top: 34, right: room, bottom: 16 },
  );
  const { places, height, most } = heights(held, pair, rows, found.last);
  const y = scale(UNLISTED, 1 + ABOVE, area.bottom, area.top);
  const middle = (area.left + area.right) / 2;
  const level = (x, label, kind) =>
    area.svg.append(
      svg("line", { class: kind, x1: area.left, x2: area.right, y1: y(height(x)), y2: y(height(x)) }),
      svg("text", { class: "tick halo", x: middle, y: y(height(x)) - 3, "text-anchor": "middle" }, label),
    );
  level(0, "0", "grid");
  level(0.5, "½ ×", "grid");
  for (const x of [2, 4, 16, 64]) if (x <= most && height(x) - 1 > 0.25) level(x, `${x} ×`, "grid");
  const atZero = names.filter((_, side) => !(found.last[side] > 0)).map((name) => shortened(name, 24));
  const isEmpty = pair.every((ranking) => held.counted(ranking, held.order(ranking)[0]) === 0);
  if (!isEmpty) level(1, atZero.length === 2 ? "least score above 0" : "k-th score", "level");
  const ends = [area.left, area.right];
  const standings = places.map((side) => side.map((value) => y(value)));
  const labels = standings.map((places) => apart(places, 14, area.top, area.bottom));
  rows.forEach((row, i) => {
    area.svg.append(
      svg("line", { class: KINDS[row.kind], x1: ends[0], x2: ends[1], y1: standings[0][i], y2: standings[1][i] }),
    );
  });
  [0, 1].forEach((side) => {
    const anchor = side ? "start" : "end";
    const out = side ? 1 : -1;
    area.svg.append(
      svg("text", { class: "column", x: ends[side], y: 16, "text-anchor": anchor }, fitted(names[side], room - 4)),
    );
    rows.forEach((row, i) => {
      const rank = Number.isNaN(held.score(pair[side], row.item)) ? "not listed" : `rank ${row.ranks[side]}`;
      area.svg.append(
        svg("line", {
          class: "lead",
          x1: ends[side],
          x2: ends[side] + out * 8,
          y1: standings[side][i],
          y2: labels[side][i],
        }),
        svg(
          "text",
          {
            class: `label ${KINDS[row.kind]}`,
            x: ends[side] + out * 10,
            y: labels[side][i] + 4,
            "text-anchor": anchor,
          },
          fitted(held.items[row.item], room - 12),
          svg("title", {}, `${held.items[row.item]}: ${rank}, ${row.kind}`),
        ),
      );
    });
  });
  if (atZero.length)
    place.append(
      html(
        "p",
        { class: "said" },
        isolated(
          `The k-th score of ${atZero.join(" and ")} is 0` +
            (isEmpty ? ", as all scores are." : ": scores are shown relative to the least one above 0."),
        ),
      ),
    );
  if (rows.length < found.rows.length) {
    place.append(
      html(
        "p",
        { class: "said" },
        `${rows.length} of ${found.rows.length} items are drawn: the best ranked of each kind.`,
      ),
    );
  }
}

const MOST_ROWS = 200;
function itemTable(held, pair, names, found) {
  const order = ["near miss", "far miss", "opposite sign", "shared"];
  const rows = found.rows
    .slice()
    .sort(
      (one, other) =>
        order.indexOf(one.kind) - order.indexOf(other.kind) ||
        other.contribution - one.contribution ||
        byRank(one, other),
    );
  const cells = rows.slice(0, MOST_ROWS).map((row) => [
    held.items[row.item],
    row.kind,
    Number(row.contribution.toPrecision(5)),
    ...pair.flatMap((ranking, side) => {
      const score = held.score(ranking, row.item);
      return Number.isNaN(score) ? ["not listed", "-"] : [row.ranks[side], Number(score.toPrecision(5))];
    }),
  ]);
  const more = rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} of ${rows.length}` : "";
  return table(
    `Items in the top ${found.k} of either ranking${more}`,
    ["item", "kind", "contribution", ...names.flatMap((name) => [`rank in ${shortened(name, 24)}`, "score"])],
    cells,
  );
}
