// Attention of one token as arcs: above the line what it reads, below it who reads it.
// Everything that shows text sets textContent: no token is ever markup.

const SVG = "http://www.w3.org/2000/svg"
const HEIGHT = 150 // pixels for the tallest arc
const LEAST = 0.01 // shares below this draw no arc

const element = (tag, className, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

const legend = data => {
  const line = element("div", "legend")
  const entry = (text, colour) => {
    const label = element("span", "", text)
    label.style.setProperty("--arc", colour)
    line.append(label)
  }
  entry(`above: what token ${data.selected} reads`, data.colours[0])
  entry(`below: who reads token ${data.selected}`, data.colours[1])
  return line
}

// A share belongs to a token's part in the picture: it is read, or it reads.
const shareOf = (data, index) => (index <= data.selected ? data.reads[index] : data.read_by[index])

const describe = (data, index) => {
  const text = data.tokens[index]
  const share = data.written[index]
  if (index === data.selected) return `token ${index}, ${text}, chosen; reads itself with ${share}`
  if (index < data.selected) return `token ${index}, ${text}, is read with ${share}`
  return `token ${index}, ${text}, reads the chosen token with ${share}`
}

const buttonsOf = data => {
  const row = element("div", "row")
  row.setAttribute("role", "group")
  row.setAttribute("aria-label", data.label)
  data.tokens.forEach((text, index) => {
    const button = element("button")
    const chosen = index === data.selected
    button.type = "button"
    button.dataset.index = index
    button.tabIndex = chosen ? 0 : -1
    button.setAttribute("aria-pressed", String(chosen))
    button.setAttribute("aria-label", describe(data, index))
    button.title = describe(data, index)
    const share = shareOf(data, index)
    button.append(element("span", "piece", text === "" ? "∅" : text))
    button.append(element("span", "share", share >= LEAST ? data.written[index] : ""))
    row.append(button)
  })
  return row
}

const arcs = (svg, centres, data, shares, colour, up, furthest) => {
  const from = centres[data.selected]
  shares.forEach((share, index) => {
    if (share < LEAST) return
    const to = centres[index]
    const wide = Math.abs(to - from)
    // The nearest arc is still tall enough to be seen, the furthest fits.
    const tall = index === data.selected ? 18 : 24 + (HEIGHT - 34) * (wide / Math.max(furthest, 1))
    const base = up ? HEIGHT : 0
    const tip = up ? HEIGHT - tall : tall
    const side = index === data.selected ? 12 : 0
    const path = document.createElementNS(SVG, "path")
    path.setAttribute("d", `M ${from - side} ${base} C ${from - side} ${tip}, ${to + side} ${tip}, ${to + side} ${base}`)
    path.setAttribute("stroke", colour)
    path.setAttribute("stroke-width", String(1 + 11 * share))
    path.setAttribute("opacity", String(0.35 + 0.6 * share))
    svg.append(path)
  })
}

const drawing = className => {
  const svg = document.createElementNS(SVG, "svg")
  svg.setAttribute("class", className)
  svg.setAttribute("aria-hidden", "true")
  svg.setAttribute("height", String(HEIGHT))
  return svg
}

const draw = (stage, row, data) => {
  const [above, below] = stage.querySelectorAll("svg")
  const left = stage.getBoundingClientRect().left
  const width = stage.scrollWidth
  const centres = [...row.children].map(button => {
    const box = button.getBoundingClientRect()
    return box.left - left + box.width / 2
  })
  for (const svg of [above, below]) {
    svg.setAttribute("width", String(width))
    svg.replaceChildren()
  }
  const shown = [...data.reads.keys()].filter(index => shareOf(data, index) >= LEAST)
  const furthest = Math.max(...shown.map(index => Math.abs(centres[index] - centres[data.selected])), 1)
  arcs(above, centres, data, data.reads, data.colours[0], true, furthest)
  arcs(below, centres, data, data.read_by, data.colours[1], false, furthest)
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".arcs")
  if (!root || !data) return
  const focused = root.contains(root.getRootNode().activeElement)
  const scroll = element("div", "scroll")
  const stage = element("div", "stage")
  const row = buttonsOf(data)
  stage.append(drawing("above"), row, drawing("below"))
  scroll.append(stage)
  root.replaceChildren(legend(data), scroll)

  const chosen = row.children[data.selected]
  scroll.scrollLeft = chosen.offsetLeft - scroll.clientWidth / 2
  if (focused) chosen.focus({ preventScroll: true })
  row.onclick = event => {
    const button = event.target.closest("button")
    if (button) setTriggerValue("picked", Number(button.dataset.index))
  }
  row.onkeydown = event => {
    let to = data.selected + (STEPS[event.key] ?? 0)
    if (event.key === "Home") to = 0
    if (event.key === "End") to = data.tokens.length - 1
    if (to === data.selected || !row.children[to]) return
    event.preventDefault()
    setTriggerValue("picked", to)
  }
  const watcher = new ResizeObserver(() => draw(stage, row, data))
  watcher.observe(stage)
  return () => watcher.disconnect()
}
