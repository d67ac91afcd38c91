// All pairs of rankings as a heat map, from which a pair can be opened.

const MOST_CELLS = 1600; // as SVG with values; more are painted

/** Show a matrix as a heat map; a click, or Enter, shows the pair. */
function matrixView(section, part) {
  const rows = part.names;
  const columns = part.columns ?? rows;
  const data = {};
  for (const name of ["raw", "expected", "p", "adjusted"]) data[name] = unpack(part[name]);
  if (data.expected) data.corrected = correct(data.raw, data.expected);
  data.marked = unpack(part.marked, Uint8Array);
  const natural = rows.map((_, i) => i);
  part.cursor ??= { row: 0, column: Math.min(1, columns.length - 1), open: null };
  const cursor = part.cursor;
  const place = html("div", { class: "heat" });
  const reading = html("p", { class: "reading" });
  const detail = html("div", { class: "detail" });
  const kind = () => (state.corrected && data.corrected ? "corrected" : "raw");
  const order = () => (part.sorted !== false && part.order ? part.order : natural);
  const columnOrder = () => (part.columns ? columns.map((_, j) => j) : order());
  const cell = (i, j) => i * columns.length + j;
  const describe = (i, j) => {
    const at = cell(i, j);
    const known = [`${part.measure} ${fixed(data[kind()][at])}${kind() === "corrected" ? ", corrected" : ""}`];
    if (data.expected && kind() === "raw") known.push(`chance ${fixed(data.expected[at])}`);
    if (data.p && isNumber(data.p[at])) known.push(pText(data.p[at]));
    if (data.adjusted && isNumber(data.adjusted[at])) known.push(`adjusted ${pText(data.adjusted[at])}`);
    if (data.marked?.[at]) known.push("not significant");
    return `${shortened(rows[i], 40)} and ${shortened(columns[j], 40)}: ${known.join(", ")}`;
  };
  const tell = (i, j) => reading.replaceChildren(isolated(describe(i, j)));
  let mark = () => {};
  const open = (i, j) => {
    cursor.open = [i, j];
    openPair(detail, part, i, j, describe(i, j));
    announce(`Showing ${describe(i, j)}`);
  };
  const move = (byRows, byColumns) => {
    cursor.row = Math.min(Math.max(cursor.row + byRows, 0), rows.length - 1);
    cursor.column = Math.min(Math.max(cursor.column + byColumns, 0), columns.length - 1);
    const [i, j] = [order()[cursor.row], columnOrder()[cursor.column]];
    mark();
    tell(i, j);
    announce(describe(i, j));
  };
  const keys = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  place.tabIndex = 0;
  place.setAttribute("role", "application");
  place.setAttribute("aria-label", "Heat map: arrow keys move between pairs, Enter shows a pair");
  place.addEventListener("keydown", (event) => {
    if (keys[event.key]) move(...keys[event.key]);
    else if (event.key === "Enter" || event.key === " ") open(order()[cursor.row], columnOrder()[cursor.column]);
    else return;
    event.preventDefault();
  });
  const redraw = () => {
    mark = drawHeat(place, {
      rows,
      columns,
      order: order(),
      columnOrder: columnOrder(),
      values: data[kind()],
      kind: kind(),
      marked: data.marked,
      cell,
      cursor,
      onMove: (row, column) => tell(order()[row], columnOrder()[column]),
      onPick: (row, column) => {
        Object.assign(cursor, { row, column });
        mark();
        open(order()[row], columnOrder()[column]);
      },
    });
  };
  if (part.order) {
    const box = html("input", {
      type: "checkbox",
      onchange: (event) => {
        part.sorted = event.target.checked;
        redraw();
      },
    });
    box.checked = part.sorted !== false;
    section.append(html("label", { class: "option" }, box, " similar rankings side by side (average linkage)"));
  }
  section.append(
    html(
      "p",
      { class: "said" },
      "Click a cell, or move with the arrow keys and press Enter, to see that pair.",
      part.legend ? html("br") : null,
      part.legend ?? null,
    ),
    place,
    reading,
    detail,
    alternative("Pairs as a table", () => pairTable(part, rows, columns, data, kind(), cell)),
  );
  redraw();
  if (cursor.open) open(...cursor.open);
}

/** Draw the cells of a matrix; return a function that frames the cell under the cursor. */
function drawHeat(place, { rows, columns, order, columnOrder, values, kind, marked, cell, cursor, onMove, onPick }) {
  const named = rows.length <= 60 && columns.length <= 60;
  const width = Math.max(place.clientWidth || 640, 200);
  const room = width < 520 ? 76 : 170;
  const [rowNames, columnNames] = [rows, columns].map((names) => (named ? names.map((name) => fitted(name, room)) : []));
  // Names of columns hang to the lower left, at 60 degrees.
  const left = named ? Math.max(12 + widest(rowNames), widest(columnNames) / 2) : 6;
  const size = Math.min(named ? 46 : 4, (width - left - 8) / columns.length);
  const beneath = named ? 18 + 0.87 * widest(columnNames) : 10;
  const area = chart(
    place,
    Math.ceil(size * rows.length + beneath + 6),
    "Heat map of all pairs; the values are in the table below",
    { left, top: 4, right: 4, bottom: beneath },
  );
  area.svg.setAttribute("aria-hidden", "true");
  let low = 0;
  for (const value of values) if (value < -0.25) low = -1;
  const share = (value) => (value - low) / (1 - low);
  if (rows.length * columns.length > MOST_CELLS)
    paintCells(place, area, size, order, columnOrder, values, marked, cell, share);
  else drawCells(area, size, order, columnOrder, values, marked, cell, share);
  place.append(colourKey(low, kind));
  const step = Math.max(1, Math.ceil(13 / size));
  if (named) {
    order.forEach(
      (i, row) =>
        row % step ||
        area.svg.append(
          svg(
            "text",
            { class: "name", x: left - 6, y: area.top + size * (row + 0.5) + 4, "text-anchor": "end" },
            rowNames[i],
            svg("title", {}, rows[i]),
          ),
        ),
    );
    columnOrder.forEach(
      (j, column) =>
        column % step ||
        area.svg.append(
          svg(
            "text",
            {
              class: "name",
              "text-anchor": "end",
              transform: `translate(${left + size * (column + 0.5) + 4} ${area.top + size * rows.length + 10}) rotate(-60)`,
            },
            columnNames[j],
            svg("title", {}, columns[j]),
          ),
        ),
    );
  }
  const frame = svg("rect", { class: "cursor", width: size, height: size, fill: "none" });
  area.svg.append(frame);
  const at = (event) => {
    const box = area.svg.getBoundingClientRect();
    const column = Math.floor((((event.clientX - box.left) / box.width) * area.width - left) / size);
    const row = Math.floor((((event.clientY - box.top) / box.height) * area.height - area.top) / size);
    return row >= 0 && row < rows.length && column >= 0 && column < columns.length ? [row, column] : null;
  };
  area.svg.addEventListener("pointermove", (event) => {
    const found = at(event);
    if (found) onMove(...found);
  });
  area.svg.addEventListener("click", (event) => {
    const found = at(event);
    if (found) onPick(...found);
  });
  const mark = () => {
    frame.setAttribute("x", left + size * cursor.column);
    frame.setAttribute("y", area.top + size * cursor.row);
  };
  mark();
  return mark;
}

/** Return what the colours of a heat map stand for. */
function colourKey(low, kind) {
  const steps = Array.from({ length: 40 }, (_, i) =>
    svg("rect", { x: 4 * i, y: 0, width: 4.5, height: 12, fill: heat(i / 39).fill }),
  );
  const bar = svg("svg", { width: 160, height: 12, class: "key", "aria-hidden": "true" }, ...steps);
  return html("p", { class: "said" }, `${low} `, bar, kind === "corrected" ? " 1, corrected for chance" : " 1");
}

/** Draw few cells with their values. */
function drawCells(area, size, order, columnOrder, values, marked, cell, share) {
  order.forEach((i, row) =>
    columnOrder.forEach((j, column) => {
      const value = values[cell(i, j)];
      const isPale = marked?.[cell(i, j)];
      const [x, y] = [area.left + size * column, area.top + size * row];
      if (!isNumber(value)) {
        area.svg.append(svg("rect", { class: "empty", x, y, width: size - 0.5, height: size - 0.5 }));
        return;
      }
      const { fill: shade, dark } = heat(share(value));
      area.svg.append(
        svg("rect", { x, y, width: size - 0.5, height: size - 0.5, fill: shade, class: isPale ? "pale" : null }),
      );
      const label = size >= 30 ? fixed(value, 2) + (isPale ? "~" : "") : isPale && size >= 10 ? "~" : "";
      if (label)
        area.svg.append(
          svg(
            "text",
            {
              class: isPale ? "cell on-pale" : dark ? "cell on-dark" : "cell",
              x: x + size / 2,
              y: y + size / 2 + 4,
              "text-anchor": "middle",
            },
            label,
          ),
        );
    }),
  );
}

/** Paint many cells on a canvas behind the frame and the names. */
function paintCells(place, area, size, order, columnOrder, values, marked, cell, share) {
  const canvas = html("canvas", { width: columnOrder.length, height: order.length, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columnOrder.length, order.length);
  order.forEach((i, row) =>
    columnOrder.forEach((j, column) => {
      const value = values[cell(i, j)];
      const rgb = isNumber(value) ? heat(share(value)).rgb : [128, 128, 128];
      image.data.set([...rgb, marked?.[cell(i, j)] ? 90 : 255], 4 * (row * columnOrder.length + column));
    }),
  );
  context.putImageData(image, 0, 0);
  Object.assign(canvas.style, {
    left: `${area.left}px`,
    top: `${area.top}px`,
    width: `${size * columnOrder.length}px`,
    height: `${size * order.length}px`,
  });
  place.prepend(canvas);
}

/** Return all pairs as a table: the matrix itself, or of many rankings the most and the least similar. */
function pairTable(part, rows, columns, data, kind, cell) {
  const pairs = [];
  rows.forEach((_, i) =>
    columns.forEach((__, j) => {
      if (part.columns || j > i) pairs.push([i, j]);
    }),
  );
  const known = (pair) => (isNumber(data[kind][cell(...pair)]) ? data[kind][cell(...pair)] : -9);
  pairs.sort((one, other) => known(other) - known(one));
  const most = pairs.length > 2 * MOST_ROWS ? [...pairs.slice(0, MOST_ROWS), ...pairs.slice(-MOST_ROWS)] : pairs;
  const header = ["first", "second", kind === "corrected" ? `${part.measure}, corrected` : part.measure];
  for (const [name, title] of [
    ["expected", "by chance"],
    ["p", "p"],
    ["adjusted", "adjusted p"],
  ])
    if (data[name]) header.push(title);
  const some =
    most.length < pairs.length
      ? `, the ${MOST_ROWS} most and the ${MOST_ROWS} least similar of ${pairs.length}`
      : ", the most similar first";
  return table(
    `Pairs${some}`,
    header,
    most.map(([i, j]) => [
      rows[i],
      columns[j],
      ...[kind, "expected", "p", "adjusted"]
        .filter((name) => data[name])
        .map((name) => Number(data[name][cell(i, j)].toPrecision(5))),
    ]),
  );
}

/** Show one pair of a matrix: its curves, and its items at each k. */
function openPair(place, part, i, j, title) {
  const held = part.tops === null ? null : tops[part.tops];
  place.replaceChildren(html("h3", {}, isolated(title)));
  if (i === j && !part.columns) {
    place.append(html("p", { class: "said" }, "This is a ranking with itself. Choose another cell."));
    return;
  }
  const m = part.names.length;
  const second = part.columns ? m + j : j;
  const names = [part.names[i], (part.columns ?? part.names)[j]];
  const start = part.k ?? Math.min(10, Math.max(1, Math.floor((held?.limit ?? 20) / 2)));
  const remember = (k) => {
    part.k = k;
  };
  const view = { tops: part.tops, pair: [i, second], names, start, remember };
  if (part.curves) {
    const [low, high] = part.columns || i < j ? [i, j] : [j, i];
    const at = part.columns ? i * part.columns.length + j : (low * (2 * m - low - 1)) / 2 + (high - low - 1);
    pairView(place, { ...part.curves, ...view, place: at });
    place.append(html("p", { class: "said" }, `Curves on a log grid of ${part.curves.ks.length} k.`));
  } else if (held && held.depth > 0) {
    const curves = computedCurves(held, i, second);
    pairView(place, { ...curves, ...view });
    place.append(
      html(
        "p",
        { class: "said" },
        `There are too many pairs for all their curves: these end at k = ${curves.ks[curves.ks.length - 1]}, ` +
          "and are computed from the items on this page.",
      ),
    );
  } else {
    place.append(html("p", { class: "said" }, "The rankings themselves are not on this page."));
  }
}

/** Return FUJI and Jaccard of two rankings over k, computed from the items on the page. */
function computedCurves(held, a, b) {
  const last = Math.min(held.depth, held.limit, 1000);
  const ks = [];
  for (let step = 0; step <= 40; step++) {
    const k = Math.round(last ** (step / 40));
    if (k !== ks[ks.length - 1]) ks.push(k);
  }
  const found = ks.map((k) => held.explain(a, b, k));
  const line = (title, colour, name) => ({
    title,
    colour,
    low_end: 0,
    values: Float32Array.from(found, (one) => one[name]),
  });
  return { ks, lines: [line("FUJI", COLOURS.fuji, "fuji"), line("Jaccard", COLOURS.jaccard, "jaccard")] };
}
