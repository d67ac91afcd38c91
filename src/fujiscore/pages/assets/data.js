// The data of the page: typed arrays, numbers as text, and FUJI of two rankings item by item.

const page = JSON.parse(document.getElementById("data").textContent);
const COLOURS = page.colours;

/** Return the array that a base64 text stands for. */
function unpack(text, Kind = Float32Array) {
  if (text === undefined || text === null) return null;
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return new Kind(bytes.buffer);
}

const isNumber = (value) => typeof value === "number" && !Number.isNaN(value);
const fixed = (value, digits = 4) => (isNumber(value) ? value.toFixed(digits) : "undefined");
/** Return a number in few digits, as a table shows it. */
function brief(value) {
  if (!isNumber(value)) return "-";
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
}
const pText = (p) => (isNumber(p) ? `p ${p <= 1.0000001e-9 ? "<=" : "="} ${Number(p.toPrecision(2))}` : "");
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;

/** Return values on the scale where 0 is the chance level and 1 the maximum. */
function correct(values, expected) {
  return values.map((value, i) => (1 - expected[i] > 1e-6 ? (value - expected[i]) / (1 - expected[i]) : NaN));
}

/** Return a name with its middle left out where it is too long. */
function shortened(name, most) {
  const letters = Array.from(name);
  if (letters.length <= most) return name;
  const tail = Math.floor((most - 1) / 2);
  return letters.slice(0, most - 1 - tail).join("") + "…" + letters.slice(letters.length - tail).join("");
}

/** The tops of rankings over one set of items: all that the page knows of single items. */
class Tops {
  constructor(raw) {
    Object.assign(this, { names: raw.names, items: raw.items, n: raw.n, depth: raw.depth, limit: raw.limit });
    this.closed = raw.closed;
    Object.assign(this, { tail: raw.tail, capped: raw.capped, listed: raw.listed, sums: raw.sums });
    this.count = raw.items.length;
    this.ranks = unpack(raw.ranks, Uint32Array);
    this.scale = raw.scale;
    this.relative = unpack(raw.scores, raw.wide ? Float64Array : Float32Array);
    this.signs = unpack(raw.signs, Int8Array);
    this.orders = new Map();
  }

  rank(ranking, item) {
    return this.ranks[ranking * this.count + item];
  }

  /** Return an item's score, NaN where the ranking does not list it. */
  score(ranking, item) {
    return this.relative[ranking * this.count + item] * this.scale[ranking];
  }

  /** Return the score as membership counts it: 0 for negative scores and items that are not listed. */
  counted(ranking, item) {
    const score = this.relative[ranking * this.count + item];
    return score > 0 ? score : 0;
  }

  /** Return the least score above 0 as membership counts it, 1 without any: the unit where the k-th score is 0. */
  leastPositive(ranking) {
    let least = 1;
    for (let item = 0; item < this.count; item++) {
      const score = this.counted(ranking, item);
      if (score > 0 && score < least) least = score;
    }
    return least;
  }

  /** Return the items on the page in the order of a ranking. */
  order(ranking) {
    if (!this.orders.has(ranking)) {
      const items = Uint32Array.from({ length: this.count }, (_, item) => item);
      this.orders.set(
        ranking,
        items.sort((a, b) => this.rank(ranking, a) - this.rank(ranking, b) || a - b),
      );
    }
    return this.orders.get(ranking);
  }

  /** Return whether an item is in a ranking's top k; capped sets hold positive scores only. */
  inside(ranking, item, k) {
    return this.rank(ranking, item) <= k && (!this.capped || this.counted(ranking, item) > 0);
  }

  /** Return the membership from which on a miss is near: halfway from the mean of the listed items outside to 1. */
  nearFrom(ranking, top, last) {
    const outside = this.listed[ranking] - top.length;
    if (outside <= 0 || !(last > 0)) return 1;
    let sum = this.sums[ranking];
    for (const item of top) sum -= this.counted(ranking, item);
    return (1 + Math.max(sum, 0) / outside / last) / 2;
  }

  /** Return the items of a ranking's top k. */
  top(ranking, k) {
    const order = this.order(ranking);
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.inside(ranking, order[middle], k)) low = middle + 1;
      else high = middle;
    }
    return order.subarray(0, low);
  }

  /** Return the membership of an item in a top set whose last score is given. */
  membership(ranking, item, inside, last) {
    if (inside) return 1;
    return last > 0 ? Math.min(this.counted(ranking, item), last) / last : this.tail;
  }

  /** Return FUJI at k of two rankings, item by item; null where the page does not hold all of the items. */
  explain(a, b, k) {
    if (k > this.depth) return null;
    const tops = [this.top(a, k), this.top(b, k)];
    const last = [a, b].map((ranking, side) => this.counted(ranking, tops[side][tops[side].length - 1]));
    const near = [a, b].map((ranking, side) => this.nearFrom(ranking, tops[side], last[side]));
    const union = new Set([...tops[0], ...tops[1]]);
    const rows = [];
    const counts = { shared: 0, "near miss": 0, "far miss": 0, "opposite sign": 0 };
    let sum = 0;
    for (const item of union) {
      const inside = [this.inside(a, item, k), this.inside(b, item, k)];
      const members = [a, b].map((ranking, side) => this.membership(ranking, item, inside[side], last[side]));
      const contribution = Math.min(...members);
      const opposite = this.signs && this.signs[a * this.count + item] * this.signs[b * this.count + item] < 0;
      const close = members.every((member, side) => member > near[side] || member >= 1);
      const kind = inside[0] && inside[1] ? "shared" : opposite ? "opposite sign" : close ? "near miss" : "far miss";
      counts[kind] += 1;
      sum += contribution;
      rows.push({ item, kind, contribution, ranks: [this.rank(a, item), this.rank(b, item)] });
    }
    const undefinedAtZero = last[0] === 0 && last[1] === 0;
    return { k, rows, counts, last, undefinedAtZero, fuji: sum / union.size, jaccard: counts.shared / union.size };
  }
}

const tops = page.tops.map((raw) => new Tops(raw));
