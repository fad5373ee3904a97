// A table of tokens with two bars each. Every text is set as text, never as markup.

const element = (tag, className, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

const bar = (share, text, colour) => {
  const node = element("div", "bar")
  const fill = element("i")
  fill.style.width = `${share * 100}%`
  fill.style.background = colour
  node.append(fill, element("span", "", text))
  return node
}

const cell = (...inside) => {
  const node = element("td")
  node.append(...inside)
  return node
}

const line = (row, number, data) => {
  const node = element("tr", row.drawn ? "drawn" : "")
  const token = element("div", "token", row.t)
  token.append(element("span", "id", String(row.i)))
  token.title = `${row.t}, id ${row.i}`
  const final = bar(row.final, row.final_text, row.drawn ? data.colours.drawn : data.colours.final)
  if (row.final_text === "cut") final.classList.add("gone")
  let last
  if (row.drawn) {
    last = element("span", "", "✓")
    last.title = "the token that was taken"
  } else {
    last = element("button", "", row.taken ? "see" : "take")
    last.type = "button"
    last.dataset.number = number
    const name = row.taken ? "Go to the branch with" : "Take this one instead:"
    last.title = `${name} ${row.t}`
    last.setAttribute("aria-label", `${name} ${row.t}, id ${row.i}`)
  }
  node.append(cell(token), cell(bar(row.raw, row.raw_text, data.colours.raw)), cell(final), cell(last))
  return node
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".alternatives")
  if (!root || !data) return
  const table = element("table")
  const names = element("tr")
  names.append(
    element("th", "", "token"),
    element("th", "", "raw (model)"),
    element("th", "", "final (drawn)"),
    element("th", "", "instead"),
  )
  table.append(names, ...data.rows.map((row, number) => line(row, number, data)))
  root.replaceChildren(table)
  root.onclick = event => {
    const button = event.target.closest("button")
    if (button) setTriggerValue("take", Number(button.dataset.number))
  }
}
