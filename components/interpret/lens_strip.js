// What the model would say after every layer, for one token: a row of chips that wraps.
// Each is tinted by how probable the final answer is there. Text is set as text, never as markup.

const element = (tag, className, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".readings")
  if (!root || !data) return
  const focused = root.contains(root.getRootNode().activeElement)
  const row = element("div", "chips")
  row.setAttribute("role", "group")
  row.setAttribute("aria-label", data.label)
  data.cells.forEach((cell, index) => {
    const button = element("button")
    button.type = "button"
    button.dataset.index = index
    button.tabIndex = index === data.selected ? 0 : -1
    button.classList.toggle("answer", cell.answer)
    button.setAttribute("aria-pressed", String(index === data.selected))
    button.setAttribute("aria-label", cell.says)
    button.title = cell.says
    button.style.setProperty("--tint", `${Math.round(cell.tint * 60)}%`)
    // A lone point or comma is hard to tell from a far seat, so signs are larger than words.
    const kind = /[\p{L}\p{N}]/u.test(cell.word) ? "word" : "sign"
    button.append(element("small", "", String(index)), element("span", kind, cell.word))
    row.append(button)
  })
  root.style.setProperty("--hue", data.colour)
  root.style.setProperty("--picked", data.picked)
  root.replaceChildren(element("p", "", data.caption), row)
  if (focused) row.children[data.selected].focus({ preventScroll: true })
  row.onclick = event => {
    const button = event.target.closest("button")
    if (button) setTriggerValue("picked", Number(button.dataset.index))
  }
  row.onkeydown = event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0
    const to = data.selected + step
    if (!step || !row.children[to]) return
    event.preventDefault()
    event.stopPropagation()
    setTriggerValue("picked", to)
  }
}
