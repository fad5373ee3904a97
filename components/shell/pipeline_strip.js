// One row of chips. Texts only ever become text nodes.

function part(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

function makeChip() {
  const item = document.createElement("li")
  const link = part("button", "chip")
  link.type = "button"
  link.setAttribute("role", "link")
  link.append(part("span", "fact"), part("span", "label"))
  item.append(link)
  return item
}

function fillChip(item, chip, choose) {
  const link = item.firstElementChild
  const [fact, label] = link.children
  fact.textContent = chip.fact
  label.textContent = chip.guard ? `${chip.label} (guarded)` : chip.label
  link.dataset.stage = chip.key
  link.classList.toggle("guard", chip.guard)
  if (chip.current) link.setAttribute("aria-current", "page")
  else link.removeAttribute("aria-current")
  link.onclick = () => choose(chip.key)
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const strip = parentElement.querySelector(".strip")
  let list = strip.querySelector("ol")
  if (!list) {
    list = document.createElement("ol")
    strip.replaceChildren(list)
  }
  // Chips are kept, so that the focus stays where it is while their facts change.
  while (list.children.length > data.chips.length) list.lastElementChild.remove()
  while (list.children.length < data.chips.length) list.append(makeChip())
  list.style.setProperty("--count", data.chips.length)
  list.style.setProperty("--half", Math.ceil(data.chips.length / 2))
  data.chips.forEach((chip, index) => {
    fillChip(list.children[index], chip, (key) => setTriggerValue("chosen", key))
  })
}
