// Intervals, bars, tables, and the queries of runs.

/** Show values with intervals, one row each; ranks are shaded by tier. */
function intervalsView(section, part) {
  const corrected = state.corrected && part.rows.some((row) => row.corrected);
  const rows = part.rows.map((row) => (corrected && row.corrected ? { ...row, ...row.corrected } : row));
  const place = html("div", { class: "chart" });
  for (const line of [].concat(part.said ?? [])) section.append(html("p", { class: "said" }, isolated(line)));
  section.append(
    place,
    alternative("Values as a table", () => intervalTable(part, rows)),
  );
  const narrow = place.clientWidth < 520;
  const labels = rows.map((row) => fitted(row.label, narrow ? 100 : 240));
  const tiers = rows.some((row) => row.tier);
  const area = chart(place, 56 + 20 * rows.length, `${part.title}; the values are in the table below`, {
    left: 14 + widest(labels),
    top: 6,
    right: tiers ? 46 : 18,
    bottom: 44,
  });
  const numbers = rows
    .flatMap((row) => [row.value, row.low, row.high, row.least, row.most])
    .concat(part.line)
    .filter(isNumber);
  let [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  if (!numbers.length) [low, high] = [0, 1];
  // Room beside the values, but not for shares below 0 or similarities above 1.
  if (!tiers) [low, high] = [low < 0 ? low - 0.02 : Math.max(low - 0.02, 0), Math.min(high + 0.02, Math.max(high, 1))];
  const x = scale(low, high > low ? high : low + 1, area.left, area.right);
  const yOf = (i) => area.top + 20 * (i + 0.5);
  axes(area, x, () => 0, { xLabel: null, yTicks: [] });
  const words = wrapped(`${part.axis}${corrected ? ", corrected for chance" : ""}`, Math.floor(area.width / 6.6));
  words.slice(0, 2).forEach((line, i) =>
    area.svg.append(
      svg(
        "text",
        {
          class: "axis",
          x: area.width / 2,
          y: area.height - 2 - 12 * (Math.min(words.length, 2) - 1 - i),
          "text-anchor": "middle",
        },
        line,
      ),
    ),
  );
  rows.forEach((row, i) => {
    const y = yOf(i);
    if (row.tier && row.tier % 2)
      area.svg.prepend(
        svg("rect", { class: "tier", x: area.left, y: y - 10, width: area.right - area.left, height: 20 }),
      );
    if (row.tier && row.tier !== rows[i - 1]?.tier)
      area.svg.append(svg("text", { class: "tick", x: area.right + 4, y: y + 4 }, `tier ${row.tier}`));
    area.svg.append(
      svg(
        "text",
        { class: "name", x: area.left - 8, y: y + 4, "text-anchor": "end" },
        labels[i],
        svg("title", {}, row.label),
      ),
    );
    if (isNumber(row.least))
      area.svg.append(svg("line", { class: "reach", x1: x(row.least), x2: x(row.most), y1: y, y2: y }));
    if (isNumber(row.low))
      area.svg.append(
        svg("line", { class: "interval", stroke: ink(row.colour), x1: x(row.low), x2: x(row.high), y1: y, y2: y }),
      );
    if (isNumber(row.from)) area.svg.append(svg("circle", { cx: x(row.from), cy: y, r: 4, class: "before" }));
    if (isNumber(row.value)) {
      const reach = isNumber(row.low) ? ` (${brief(row.low)} to ${brief(row.high)})` : "";
      area.svg.append(
        svg(
          "circle",
          { cx: x(row.value), cy: y, r: 4, class: "value" },
          svg("title", {}, `${row.label}: ${brief(row.value)}${reach}`),
        ),
      );
    } else {
      area.svg.append(svg("text", { class: "tick", x: area.left + 4, y: y + 4 }, "undefined"));
    }
  });
  if (isNumber(part.line))
    area.svg.append(svg("line", { class: "mark", x1: x(part.line), x2: x(part.line), y1: area.top, y2: area.bottom }));
}

/** Return a text in lines of at most so many characters. */
function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if ((lines[lines.length - 1] + word).length > most) lines.push("");
    lines[lines.length - 1] += (lines[lines.length - 1] ? " " : "") + word;
  }
  return lines;
}

function intervalTable(part, rows) {
  if (part.table) return table(part.title, ...part.table);
  const columns = ["value", "low", "high", "least", "most", "tier", "in top"].filter((name) =>
    rows.some((row) => isNumber(row[name])),
  );
  const titles = { least: "best", most: "worst" };
  return table(
    part.title,
    ["name", ...columns.map((name) => titles[name] ?? name)],
    rows.map((row) => [row.label, ...columns.map((name) => row[name] ?? NaN)]),
  );
}

/** Show counts as bars. */
function histogramView(section, part) {
  const bars = (state.corrected && part.bars.corrected) || part.bars.raw;
  const place = html("div", { class: "chart" });
  section.append(
    place,
    alternative("Counts as a table", () => table(part.title, ["value", part.unit], bars)),
  );
  const area = chart(place, 16 + 24 * bars.length, `${part.title}; the counts are in the table below`, {
    left: 84,
    top: 4,
    right: 64,
    bottom: 8,
  });
  const x = scale(0, Math.max(...bars.map((bar) => bar[1]), 1), area.left, area.right);
  bars.forEach(([label, count], i) => {
    const y = area.top + 24 * i;
    area.svg.append(
      svg("text", { class: "name", x: area.left - 8, y: y + 15, "text-anchor": "end" }, label),
      svg(
        "rect",
        {
          x: area.left,
          y: y + 3,
          width: Math.max(x(count) - area.left, count ? 1 : 0),
          height: 17,
          fill: ink(part.colour),
        },
        svg("title", {}, `${label}: ${count}`),
      ),
      svg("text", { class: "tick", x: x(count) + 5, y: y + 15 }, String(count)),
    );
  });
}

function tableView(section, part) {
  section.append(
    table(
      part.title,
      part.header,
      part.rows.map((row) => row.map((value) => value ?? NaN)),
    ),
  );
}

function saidView(section, part) {
  section.append(html("ul", {}, ...part.said.map((line) => html("li", {}, isolated(line)))));
}

const SHOWN_ROWS = 20;
/** Show the least similar queries, a page at a time; those whose lists are there can be opened. */
function queriesView(section, part) {
  part.from ??= 0;
  const count = part.queries.length;
  const values = (part.unpacked ??= unpack(part.values));
  const box = html("input", {
    type: "search",
    placeholder: "query",
    autocomplete: "off",
    "aria-label": "Search for a query",
  });
  const place = html("div");
  const detail = html("div", { class: "detail" });
  const open = (row) => {
    part.open = row;
    detail.replaceChildren(html("h3", {}, isolated(part.pairs[row].title)));
    pairView(detail, part.pairs[row]);
    announce(`Showing ${part.pairs[row].title}`);
  };
  const matching = () => {
    const wanted = box.value.trim().toLowerCase();
    const rows = Array.from({ length: count }, (_, row) => row);
    return wanted ? rows.filter((row) => part.queries[row].toLowerCase().includes(wanted)) : rows;
  };
  const draw = () => {
    const rows = matching();
    part.from = Math.max(0, Math.min(part.from, rows.length - 1));
    const shown = rows.slice(part.from, part.from + SHOWN_ROWS);
    const header = ["query", ...(part.groups ? ["group"] : []), ...part.columns];
    const cells = shown.map((row) => [
      part.pairs[row]
        ? html(
            "button",
            { type: "button", class: "link", onclick: () => open(row) },
            isolated(shortened(part.queries[row], 60)),
          )
        : isolated(shortened(part.queries[row], 60)),
      ...(part.groups ? [part.groups[row]] : []),
      ...part.columns.map((_, column) => Number(values[column * count + row].toPrecision(5))),
    ]);
    const turn = (by) =>
      html(
        "button",
        {
          type: "button",
          disabled: by < 0 ? part.from === 0 : part.from + SHOWN_ROWS >= rows.length,
          onclick: () => {
            part.from += by;
            draw();
            place.querySelector(by < 0 ? "button[data-back]" : "button[data-on]")?.focus();
          },
          [by < 0 ? "data-back" : "data-on"]: "",
        },
        by < 0 ? "Previous" : "Next",
      );
    place.replaceChildren(
      rows.length
        ? table("Queries, the least similar first", header, cells)
        : html("p", {}, "No query on this page contains this text."),
      html(
        "p",
        { class: "turn" },
        turn(-SHOWN_ROWS),
        ` ${rows.length ? part.from + 1 : 0} to ${part.from + shown.length} of ${rows.length} `,
        turn(SHOWN_ROWS),
      ),
    );
  };
  box.addEventListener("input", () => {
    part.from = 0;
    draw();
  });
  section.append(html("p", { class: "said" }, part.said), html("div", { class: "search" }, box), place, detail);
  draw();
  const first = part.open ?? Object.keys(part.pairs)[0];
  if (first !== undefined) open(Number(first));
}
