// The steps of the chain from left to right. Texts only ever become text nodes.

function part(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

function makeChip() {
  const item = document.createElement("li")
  const button = part("button", "step")
  button.type = "button"
  button.append(part("span", "label"), part("span", "value"))
  item.append(button)
  return item
}

function fillChip(item, chip, press) {
  const button = item.firstElementChild
  const [label, value] = button.children
  label.textContent = chip.label
  value.textContent = chip.value
  button.dataset.step = chip.name
  button.classList.toggle("on", chip.on)
  button.setAttribute("aria-expanded", String(chip.open))
  button.title = chip.open ? "Close this step" : "Open this step"
  button.onclick = () => press(chip.name)
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const list = parentElement.querySelector(".steps")
  // Chips are kept, so that the focus stays where it is while their values change.
  while (list.children.length > data.chips.length) list.lastElementChild.remove()
  while (list.children.length < data.chips.length) list.append(makeChip())
  data.chips.forEach((chip, index) => {
    fillChip(list.children[index], chip, (name) => setTriggerValue("pressed", name))
  })
}
