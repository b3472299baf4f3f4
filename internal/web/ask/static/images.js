import { el, t } from "../layout/page.js";
import { columns, link, name } from "./rows.js";

// show names the pictures with links. Pictures are on other sites, from which this page loads nothing.
export function show(node, data) {
  const at = columns(data, "image")[0];
  const named = name(data);
  node.append(el("p", { class: "note small" }, t("ask.view.images.note")), el("div", { class: "imagegrid" }, data.rows.filter((row) => row[at].kind).map((row) => el("div", {}, el("b", {}, link(named(row))), link(row[at])))));
}
