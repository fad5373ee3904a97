// Rows of pieces over one line of columns. Everything that shows text sets textContent.

const element = (tag, className, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

const heading = row => {
  const cell = element("th", "", row.l)
  cell.scope = "row"
  if (row.n) cell.append(element("small", "", row.n))
  return cell
}

const piece = (cell, colours) => {
  const coloured = cell.h !== undefined
  const node = element("td", coloured ? "piece" : "", cell.t)
  node.colSpan = cell.w
  if (coloured) node.style.setProperty("--hue", colours[cell.h])
  if (cell.s) node.classList.add("strong")
  if (cell.x) node.classList.add("disputed")
  if (cell.d) node.title = cell.d
  return node
}

export default function (component) {
  const { data, parentElement } = component
  const root = parentElement.querySelector(".pieces")
  if (!root || !data) return
  const table = element("table", data.large ? "large" : "")
  table.setAttribute("aria-label", data.label)
  const body = element("tbody")
  for (const row of data.rows) {
    const line = element("tr")
    line.append(heading(row), ...row.c.map(cell => piece(cell, data.colours)))
    body.append(line)
  }
  table.append(body)
  root.replaceChildren(table)
}
