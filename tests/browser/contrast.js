// Every visible text on the page, with the contrast between it and the first opaque ground behind it.
() => {
  const parse = (css) => {
    const numbers = css.match(/[\d.]+/g).map(Number);
    return { rgb: numbers.slice(0, 3), opacity: numbers[3] ?? 1 };
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => ((c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [a, b] = [luminance(one), luminance(other)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { rgb, opacity } = parse(getComputedStyle(at).backgroundColor);
      if (opacity === 1) return rgb;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    const isShown = element.getClientRects().length && !element.closest("script, style, title, noscript");
    if (!node.textContent.trim() || !isShown || element.closest(".visually-hidden")) continue;
    const style = getComputedStyle(element);
    const colour = parse(element instanceof SVGElement ? style.fill : style.color).rgb;
    const isInCell = element.matches("svg .cell:not(.on-pale)");
    const behind = isInCell ? parse(getComputedStyle(element.previousElementSibling).fill).rgb : ground(element);
    found.push({ text: node.textContent.slice(0, 40), ratio: ratio(colour, behind) });
  }
  return found;
};
