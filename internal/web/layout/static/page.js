// The base of all pages' scripts. Nothing here turns text into markup: el is the only way to make elements.

const words = JSON.parse(document.getElementById("words")?.textContent || "{}");

// t returns a message in the page's language; {name} in it is replaced with values.name. A message with plural forms
// has one for each of the language's categories.
export function t(key, values = {}) {
  let text = words[key] ?? key;
  if (typeof text === "object") text = text[new Intl.PluralRules(document.documentElement.lang).select(values.count)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? (typeof values[name] === "number" ? number(values[name]) : values[name]) : whole));
}

// number returns n with the language's separators.
export function number(n) { return n.toLocaleString(document.documentElement.lang); }

// el makes an element: el("a", {href: "/", class: "button", onclick: f}, "text", child, …). Children that are null or
// false are left out. Elements of drawings are recognized by their names; "svg:a" is a link in a drawing.
export function el(tag, props = {}, ...children) {
  const drawn = tag.startsWith("svg:") || svgTags.has(tag);
  const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag.replace("svg:", "")) : document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}
const svgTags = new Set(["svg", "g", "path", "circle", "line", "rect", "text", "title", "polyline", "polygon", "marker", "defs"]);

// safe returns an address if a link may lead to it (on this server, or with http or https), and "" for any other, such
// as javascript:.
export function safe(address) {
  try {
    const url = new URL(address, location.origin);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : "";
  } catch { return ""; }
}

// ask fetches JSON from this server. It throws an Error with a message for people.
export async function ask(address, body, options = {}) {
  const response = await fetch(address, body === undefined ? options : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), ...options });
  let data = null;
  try { data = await response.json(); } catch { /* the status explains the failure */ }
  if (!response.ok) throw new Error(data?.error || `${response.status} ${response.statusText}`);
  return data;
}

// Times are shown in the reader's zone; days are those of UTC.
for (const time of document.querySelectorAll("time[datetime*=T]")) {
  const at = new Date(time.dateTime);
  if (!isNaN(at)) { time.title = time.textContent; time.textContent = at.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }); }
}

// A button with data-copy copies the text of the element with that ID.
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-copy]");
  if (!button) return;
  const from = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(from.value ?? from.textContent);
  const before = button.textContent;
  button.textContent = button.dataset.done || "✓";
  setTimeout(() => { button.textContent = before; }, 1500);
});
