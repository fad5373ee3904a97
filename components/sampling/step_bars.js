// One step of the chain: a row per token, what it was as an outline, what it became as a bar.
// Texts only ever become text nodes.

function part(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

function tokenRow(row, scale) {
  const line = part("li", row.kept ? "row" : "row gone")
  line.classList.toggle("picked", Boolean(row.picked))
  line.title = row.hover
  const label = part("span", "token", row.label)
  const track = part("span", "track")
  const was = part("span", "was")
  was.style.width = `${Math.min(100, (100 * row.before) / scale)}%`
  const now = part("span", "now")
  now.style.width = `${Math.min(100, (100 * (row.kept ? row.after : row.before)) / scale)}%`
  track.append(now, was)
  line.append(label, track, part("span", "number", row.text))
  return line
}

function makeRow(row, scale) {
  if (row.kind === "token") return tokenRow(row, scale)
  return part("li", row.kind, row.text)
}

function legend() {
  const line = part("p", "legend")
  for (const [look, words] of [["was", "before"], ["now", "after"], ["now drawn", "drawn with this seed"]]) {
    const entry = part("span", "entry")
    entry.append(part("span", `swatch ${look}`), part("span", "", words))
    line.append(entry)
  }
  return line
}

export default function (component) {
  const { data, parentElement } = component
  const root = parentElement.querySelector(".bars")
  // A slider calls every card; those for which nothing changed stay as they are.
  const message = JSON.stringify(data)
  if (root.message === message) return
  root.message = message
  const list = part("ul", "rows")
  list.setAttribute("aria-label", data.alt)
  list.append(...data.rows.map((row) => makeRow(row, data.scale)))
  const parts = data.title
    ? [part("p", "title", data.title), legend(), list]
    : [part("p", "formula", data.formula), list, part("p", "facts", data.facts)]
  if (data.note) parts.push(part("p", "note", data.note))
  root.replaceChildren(...parts)
  root.classList.toggle("off", !data.active)
  root.classList.toggle("large", Boolean(data.title))
}
