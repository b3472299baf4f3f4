// Shortcuts for the list of waiting replies: the number of chosen ones, a box that chooses all, buttons that are
// enabled only if some are chosen, and Enter in the field for the reason, which rejects. Without this script the page
// works as a form.
const form = document.querySelector("#many");
const words = JSON.parse(document.querySelector("#words")?.textContent ?? "{}");

if (form) {
  const boxes = [...form.querySelectorAll('input[name="entry"]')];
  const chosen = form.querySelector("#chosen");
  const several = form.querySelector(".several");
  const all = document.createElement("input");
  all.type = "checkbox";
  const label = document.createElement("label");
  label.className = "pick";
  label.append(all, " ", words["desk.selected_all"] ?? "");
  form.prepend(label);
  const count = () => {
    const n = boxes.filter((b) => b.checked).length;
    all.checked = n === boxes.length;
    all.indeterminate = n > 0 && n < boxes.length;
    several.classList.toggle("floating", n > 0);
    for (const b of several.querySelectorAll("button")) b.disabled = n === 0;
    chosen.textContent = `(${n})`;
  };
  all.addEventListener("change", () => {
    for (const b of boxes) b.checked = all.checked;
    count();
  });
  form.addEventListener("change", count);
  form.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && e.target.name === "why") {
      e.preventDefault();
      form.querySelector('button[value="reject"]').click();
    }
  });
  addEventListener("pageshow", count); // a browser that goes back ticks the boxes again
  count();
}
