// Search for items, and follow them through all rankings.

const SHOWN_HITS = 12;
const FOLLOWED = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00"];

/** Search for items, and follow them through all rankings. */
function followView(section, part) {
  const held = tops[part.tops];
  part.chosen ??= [];
  const box = html("input", {
    type: "search",
    placeholder: "item name",
    autocomplete: "off",
    "aria-label": "Search for an item",
  });
  const hits = html("ul", { class: "hits" });
  const place = html("div", { class: "followed" });
  const lower = () => (part.lower ??= held.items.map((name) => name.toLowerCase()));
  const search = () => {
    const wanted = box.value.trim().toLowerCase();
    const found = [];
    if (wanted) {
      for (let item = 0; item < held.count; item++) if (lower()[item].includes(wanted)) found.push(item);
      found.sort(
        (one, other) =>
          (lower()[other] === wanted) - (lower()[one] === wanted) ||
          lower()[one].indexOf(wanted) - lower()[other].indexOf(wanted),
      );
    }
    const more = found.length - SHOWN_HITS;
    hits.replaceChildren(
      ...found
        .slice(0, SHOWN_HITS)
        .map((item) =>
          html(
            "li",
            {},
            html("button", { type: "button", onclick: () => choose(item) }, isolated(shortened(held.items[item], 80))),
          ),
        ),
      ...(more > 0 ? [html("li", {}, `and ${plural(more, "item")} more`)] : []),
    );
    if (wanted) announce(found.length ? `${plural(found.length, "item")} found` : "no item found");
    if (wanted && !found.length)
      hits.replaceChildren(html("li", {}, `No item on this page contains this text. ${part.said}`));
  };
  const choose = (item) => {
    part.chosen = [item, ...part.chosen.filter((one) => one !== item)].slice(0, FOLLOWED.length);
    draw();
    announce(`${held.items[item]}: ${rankWords(held, item)}`);
  };
  const draw = () => {
    place.replaceChildren();
    if (held.names.length > 2) {
      const area = html("div", { class: "chart" });
      place.append(area);
      drawBump(area, held, part.chosen);
    }
    if (part.chosen.length) {
      place.append(
        legend(
          part.chosen.map((item, i) => ({
            title: `${shortened(held.items[item], 120)}: ${rankWords(held, item)}`,
            colour: ink(FOLLOWED[i]),
            kind: "main",
          })),
        ),
      );
      place.append(
        html(
          "button",
          {
            type: "button",
            onclick: () => {
              part.chosen = [];
              draw();
            },
          },
          "Clear",
        ),
      );
    }
    place.append(alternative("Ranks as a table", () => rankTable(held, part.chosen)));
  };
  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") hits.querySelector("button")?.click();
    if (event.key === "Escape") {
      box.value = "";
      search();
    }
  });
  section.append(html("p", { class: "said" }, part.said), html("div", { class: "search" }, box), hits, place);
  draw();
}

/** Return the ranks of an item in words. */
function rankWords(held, item) {
  const ranks = held.names.map((_, ranking) =>
    Number.isNaN(held.score(ranking, item)) ? null : held.rank(ranking, item),
  );
  const listed = ranks.filter((rank) => rank !== null).sort((a, b) => a - b);
  if (ranks.length === 2)
    return ranks
      .map((rank, i) => `${shortened(held.names[i], 30)} ${rank === null ? "does not list it" : `rank ${rank}`}`)
      .join(", ");
  const lacking = ranks.length - listed.length;
  if (!listed.length) return "in no ranking";
  const middle = (listed.length - 1) / 2;
  const median = (listed[Math.floor(middle)] + listed[Math.ceil(middle)]) / 2;
  return (
    `rank ${listed[0]} to ${listed[listed.length - 1]}, median ${median}` +
    (lacking ? `, not listed in ${lacking}` : "")
  );
}

function rankTable(held, chosen) {
  const items = chosen.length ? chosen : Array.from({ length: Math.min(10, held.count) }, (_, item) => item);
  return table(
    "Rank in each ranking",
    ["ranking", ...items.map((item) => shortened(held.items[item], 40))],
    held.names.map((name, ranking) => [
      name,
      ...items.map((item) => (Number.isNaN(held.score(ranking, item)) ? "not listed" : held.rank(ranking, item))),
    ]),
  );
}

/** Draw the ranks of items in all rankings: the best ones faint, those followed in colour. */
function drawBump(place, held, chosen) {
  const m = held.names.length;
  const named = m <= 40;
  const names = named ? held.names.map((name) => fitted(name, 100)) : [];
  const bottom = named ? 22 + 0.87 * widest(names) : 22;
  const area = chart(place, 290 + bottom, "Ranks of items in all rankings; the ranks are in the table below", {
    left: 48,
    top: 22,
    right: 16,
    bottom,
  });
  const shown = [
    ...Array.from({ length: Math.min(10, held.count) }, (_, item) => item).filter((item) => !chosen.includes(item)),
    ...chosen.slice().reverse(),
  ];
  let deepest = 2;
  for (const item of shown) for (let r = 0; r < m; r++) deepest = Math.max(deepest, held.rank(r, item));
  const y = scale(1, deepest, area.top, area.bottom, true);
  const x = scale(0, Math.max(m - 1, 1), area.left + 8, area.right - 8);
  axes(area, x, y, { xTicks: [], yTicks: y.ticks(8), yLabel: "rank (log)" });
  const step = Math.ceil((13 * m) / (area.right - area.left));
  if (named) {
    names.forEach(
      (name, r) =>
        r % step ||
        area.svg.append(
          svg(
            "text",
            {
              class: "name",
              "text-anchor": "end",
              transform: `translate(${x(r) + 4} ${area.bottom + 12}) rotate(-60)`,
            },
            name,
            svg("title", {}, held.names[r]),
          ),
        ),
    );
  } else {
    area.svg.append(
      svg(
        "text",
        { class: "axis", x: (area.left + area.right) / 2, y: area.height - 4, "text-anchor": "middle" },
        `${m} rankings`,
      ),
    );
  }
  for (const item of shown) {
    const place_ = chosen.indexOf(item);
    const xs = held.names.map((_, r) => x(r));
    const ys = held.names.map((_, r) => (Number.isNaN(held.score(r, item)) ? NaN : y(held.rank(r, item))));
    const style = place_ < 0 ? { class: "bump" } : { class: "followed-line", stroke: ink(FOLLOWED[place_]) };
    area.svg.append(svg("path", { ...style, fill: "none", d: path(xs, ys) }, svg("title", {}, held.items[item])));
    if (m <= 60)
      xs.forEach(
        (at, r) =>
          Number.isFinite(ys[r]) &&
          area.svg.append(
            svg(
              "circle",
              place_ < 0
                ? { class: "bump-dot", cx: at, cy: ys[r], r: 2 }
                : { cx: at, cy: ys[r], r: 3, fill: ink(FOLLOWED[place_]) },
              svg("title", {}, `${held.items[item]}, ${held.names[r]}: rank ${held.rank(r, item)}`),
            ),
          ),
      );
  }
  if (!chosen.length)
    place.append(
      html(
        "p",
        { class: "said" },
        `Grey: the ${shown.length} items with the best mean rank. Search for an item to follow it.`,
      ),
    );
}
