// The page itself: one section per part, the switches for theme and kind of value, and drawing again when they change.

const VIEWS = {
  pair: pairView,
  curves: curvesView,
  matrix: matrixView,
  follow: followView,
  intervals: intervalsView,
  histogram: histogramView,
  table: tableView,
  said: saidView,
  queries: queriesView,
};
const main = document.getElementById("main");

/** Return whether a part has values corrected for chance. */
function hasCorrected(part) {
  return Boolean(
    (part.kind === "matrix" && part.expected) ||
    part.bars?.corrected ||
    part.rows?.some((row) => row.corrected) ||
    part.lines?.some((line) => line.corrected) ||
    part.curves?.lines.some((line) => line.expected) ||
    Object.values(part.pairs ?? {}).some(hasCorrected),
  );
}

/** Draw all parts, at the present width, with the present settings. */
function render() {
  const focused = document.activeElement?.closest?.("[data-part]")?.dataset.part;
  main.replaceChildren(
    ...page.parts.map((part, number) => {
      const heading = html("h2", { id: `part-${number}` }, isolated(part.title));
      return html("section", { "aria-labelledby": `part-${number}`, "data-part": number }, heading);
    }),
  );
  page.parts.forEach((part, number) => VIEWS[part.kind](main.children[number], part));
  if (focused !== undefined)
    main.children[focused]?.querySelector("input, [tabindex], button")?.focus({ preventScroll: true });
}

/** Return a button that is pressed or not. */
function toggle(text, isPressed, change) {
  const button = html("button", { type: "button", "aria-pressed": String(isPressed()) }, text);
  button.addEventListener("click", () => {
    change();
    button.setAttribute("aria-pressed", String(isPressed()));
    render();
  });
  return button;
}

const controls = document.getElementById("controls");
if (page.parts.some(hasCorrected)) {
  controls.append(
    toggle(
      "Corrected for chance",
      () => state.corrected,
      () => {
        state.corrected = !state.corrected;
      },
    ),
  );
}
const theme = toggle("Dark", isDark, () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
});
controls.append(theme);
document.body.append(announcer);
render();

let width = innerWidth;
let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    if (innerWidth !== width) {
      width = innerWidth;
      render();
    }
  }, 120);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  theme.setAttribute("aria-pressed", String(isDark()));
  render();
});
document.documentElement.dataset.ready = "yes";
