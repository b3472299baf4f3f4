import { el, ask, t } from "../layout/page.js";
import { arrange, columns, cut, link, name, others } from "./rows.js";

// Leaflet sets these texts as HTML, and only these: the page's only policy allows no others.
const constants = ['<span aria-hidden="true">+</span>', '<span aria-hidden="true">&#x2212;</span>', '<span aria-hidden="true">&#215;</span>', "&nbsp;", "<svg/>", ""];
let policy = null;

async function leaflet() {
  if (window.trustedTypes) policy ??= trustedTypes.createPolicy("default", { createHTML: (html) => (constants.includes(html) ? html : null) });
  if (!document.getElementById("leaflet-style")) {
    const style = el("link", { rel: "stylesheet", id: "leaflet-style", href: new URL("../vendor/leaflet.css", import.meta.url).href });
    document.head.append(style);
    await new Promise((done) => { style.onload = style.onerror = done; });
  }
  await import("../vendor/leaflet.js");
  return window.L;
}

// whole joins the parts of a country on both sides of the 180th meridian, and leaves the larger part where it is;
// otherwise lines across the map would connect them. Antarctica, around the pole, stays as it is.
function whole(part) {
  if (!Array.isArray(part)) { for (const inside of part.features ?? part.geometries ?? [part.geometry ?? part.coordinates]) whole(inside); return; }
  if (typeof part[0]?.[0] !== "number") { part.forEach(whole); return; }
  if (part.some(([, lat]) => lat < -80)) return;
  let turn = 0, before = part[0][0];
  for (const point of part) {
    const lon = point[0];
    if (Math.abs(lon - before) > 180) turn += lon < before ? 360 : -360;
    before = lon;
    point[0] = lon + turn;
  }
  const all = part.map(([lon]) => lon), back = -360 * Math.round((Math.min(...all) + Math.max(...all)) / 720); // its middle is on the map
  for (const point of part) point[0] += back;
}

const mostNames = 30; // a map with more points has names in its popups only

// names writes the names of points next to them, where they cover nothing.
function names(map, points) {
  const { x, y } = map.getSize();
  for (const p of points) Object.assign(p, map.latLngToContainerPoint(p.mark.getLatLng()));
  const seen = points.filter((p) => p.x >= 0 && p.y >= 0 && p.x <= x && p.y <= y);
  arrange(seen, [0, 0, x, y]);
  for (const p of points) p.mark.unbindTooltip();
  for (const { mark, name, at } of seen) if (at) mark.bindTooltip(el("span", { dir: "auto" }, name), { permanent: true, direction: at.side, offset: [{ right: 4, left: -4 }[at.side] ?? 0, { bottom: 4, top: -4 }[at.side] ?? 0], className: "point-name" });
}

// show marks the rows' coordinates on a map of land areas, which comes from this server.
export async function show(node, data) {
  const L = await leaflet();
  const land = await ask(new URL("../vendor/land.json", import.meta.url).href);
  whole(land);
  const at = columns(data, "point"), named = name(data);
  const holder = el("div", { class: "map", role: "application", "aria-label": t("ask.view.map") });
  node.append(holder);
  // a canvas does not support light-dark()
  const resolved = (text) => { const probe = node.appendChild(el("span")); probe.style.color = text; const out = getComputedStyle(probe).color; probe.remove(); return out; };
  const color = (token) => getComputedStyle(document.documentElement).getPropertyValue(token).trim();
  const map = L.map(holder, { attributionControl: false, worldCopyJump: true, maxZoom: 12, preferCanvas: true }).setView([20, 0], 1);
  L.geoJSON(land, { interactive: false, style: { color: color("--edge"), weight: 1, fillColor: resolved("var(--land)"), fillOpacity: 1 } }).addTo(map);
  const points = [], layer = data.columns.indexOf(data.layer ?? "layer"), layers = new Map();
  const kindOf = (row) => row[layer]?.text ?? "";
  if (layer >= 0) for (const row of data.rows) if (!layers.has(kindOf(row))) layers.set(kindOf(row), { n: layers.size % 8, group: L.layerGroup().addTo(map) });
  const legend = [...layers].map(([text, { n, group }]) => el("li", { class: `s${n}` }, el("label", {}, el("input", { type: "checkbox", checked: true, onchange: (event) => { if (event.target.checked) group.addTo(map); else group.remove(); } }), " ", el("span", { dir: "auto" }, text || "–"))));
  if (legend.length > 1) node.prepend(el("ul", { class: "legend small" }, legend));
  const main = resolved(color("--main")), paint = legend.map((item) => resolved(getComputedStyle(item).getPropertyValue("--c").trim() || color("--main")));
  for (const row of data.rows) for (const i of at) {
    const [lat, lon] = row[i].text.split(", ").map(Number);
    if (!row[i].kind || !isFinite(lat) || !isFinite(lon)) continue;
    const content = el("div", {}, el("b", {}, link(named(row))), el("br"), el("span", { class: "small" }, others(data, row, named(row))));
    const mark = L.circleMarker([lat, lon], { radius: 6, color: color("--card"), weight: 1.5, fillColor: paint[layers.get(kindOf(row))?.n] ?? main, fillOpacity: 0.9 }).bindPopup(content).addTo(layers.get(kindOf(row))?.group ?? map);
    points.push({ mark, name: cut(named(row).text, 24) });
  }
  if (points.length > 0 && points.length <= mostNames) map.on("moveend", () => names(map, points));
  if (points.length) map.fitBounds(points.map((p) => p.mark.getLatLng()), { padding: [30, 30], maxZoom: 4 });
}
