// Attention of one token as arcs: above the line what it reads, below it who reads it.
// The whole text is in view: it shrinks to one line as far as it stays legible, then it wraps, and
// arcs lead from line to line. Everything that shows text sets textContent: no token is markup.

const SVG = "http://www.w3.org/2000/svg"
const ABOVE = 140 // pixels over a single line, for the tallest arc
const BELOW = 70 // pixels under it: less is read by many, and each share is smaller
const GAP = 54 // pixels over, between and under lines, where there are several
const LEAST = 0.01 // shares below this draw no arc
const SIZES = [1, 0.92, 0.85, 0.78] // of the type, in rem, until one line holds the text

const element = (tag, className, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

const legend = data => {
  const line = element("div", "legend")
  const name = data.tokens[data.selected]
  const entry = (text, colour) => {
    const label = element("span", "", text)
    label.style.setProperty("--arc", colour)
    line.append(label)
  }
  entry(`what “${name}” reads`, data.colours[0])
  if (data.selected < data.tokens.length - 1) entry(`who reads “${name}”`, data.colours[1])
  line.append(element("small", "", "choose another token: click it, or use the arrow keys"))
  return line
}

// A share belongs to a token's part in the picture: it is read, or it reads.
const shareOf = (data, index) => (index <= data.selected ? data.reads[index] : data.read_by[index])

const describe = (data, index) => {
  const text = data.tokens[index]
  const share = data.written[index]
  const number = index + 1
  if (index === data.selected) return `token ${number}, ${text}, chosen; reads itself with ${share}`
  if (index < data.selected) return `token ${number}, ${text}, is read with ${share}`
  return `token ${number}, ${text}, reads the chosen token with ${share}`
}

const buttonsOf = data => {
  const row = element("div", "row")
  row.setAttribute("role", "group")
  row.setAttribute("aria-label", data.label)
  data.tokens.forEach((text, index) => {
    const button = element("button")
    const chosen = index === data.selected
    const share = shareOf(data, index)
    button.type = "button"
    button.dataset.index = index
    button.tabIndex = chosen ? 0 : -1
    button.setAttribute("aria-pressed", String(chosen))
    button.setAttribute("aria-label", describe(data, index))
    button.title = describe(data, index)
    button.style.setProperty("--hue", data.colours[index <= data.selected ? 0 : 1])
    button.style.setProperty("--tint", `${Math.round(45 * share)}%`)
    button.append(element("span", "piece", text === "" ? "∅" : text))
    button.append(element("span", "share", share >= LEAST ? data.written[index] : ""))
    row.append(button)
  })
  return row
}

// Shrink the type until the text stands on one line, or else let it wrap.
const fit = (stage, row) => {
  const tooWide = () => row.scrollWidth > row.clientWidth + 1
  stage.classList.remove("lines")
  for (const size of SIZES) {
    row.style.fontSize = `${size}rem`
    if (!tooWide()) return
  }
  stage.classList.add("lines")
  row.style.fontSize = "0.92rem"
}

const boxOf = button => ({
  x: button.offsetLeft + button.offsetWidth / 2,
  top: button.offsetTop,
  bottom: button.offsetTop + button.offsetHeight,
})

// From the chosen token to another one: over the line, under it, or to another line.
const curve = (from, to, up, most, furthest, itself) => {
  if (itself) {
    const tip = from.top - 18
    return `M ${from.x - 12} ${from.top} C ${from.x - 12} ${tip}, ${from.x + 12} ${tip}, ${from.x + 12} ${from.top}`
  }
  if (from.top === to.top) {
    // The nearest arc is still tall enough to be seen, the furthest fits.
    const tall = Math.min(most, 24) + Math.max(0, most - 24) * (Math.abs(to.x - from.x) / furthest)
    const base = up ? from.top : from.bottom
    const tip = up ? base - (tall * 4) / 3 : base + (tall * 4) / 3
    return `M ${from.x} ${base} C ${from.x} ${tip}, ${to.x} ${tip}, ${to.x} ${base}`
  }
  const [start, end] = up ? [from.top, to.bottom] : [from.bottom, to.top]
  const bend = (end - start) / 2
  return `M ${from.x} ${start} C ${from.x} ${start + bend}, ${to.x} ${end - bend}, ${to.x} ${end}`
}

const draw = (stage, row, data) => {
  fit(stage, row)
  const several = stage.classList.contains("lines")
  row.style.padding = several ? `${GAP}px 3px` : `${ABOVE}px 3px ${BELOW}px`
  const svg = stage.querySelector("svg")
  svg.setAttribute("width", String(stage.clientWidth))
  svg.setAttribute("height", String(stage.clientHeight))
  svg.replaceChildren()
  const boxes = [...row.children].map(boxOf)
  const from = boxes[data.selected]
  const shown = data.tokens.map((_, index) => index).filter(index => shareOf(data, index) >= LEAST)
  const beside = shown.filter(index => boxes[index].top === from.top)
  const furthest = Math.max(...beside.map(index => Math.abs(boxes[index].x - from.x)), 1)
  for (const index of shown) {
    const share = shareOf(data, index)
    const up = index <= data.selected
    const most = (several ? GAP : up ? ABOVE : BELOW) - 14
    const path = document.createElementNS(SVG, "path")
    path.setAttribute("class", up ? "reads" : "read-by")
    path.setAttribute("d", curve(from, boxes[index], up, most, furthest, index === data.selected))
    path.setAttribute("stroke", data.colours[up ? 0 : 1])
    path.setAttribute("stroke-width", String(1 + 11 * share))
    path.setAttribute("opacity", String(0.35 + 0.6 * share))
    svg.append(path)
  }
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".arcs")
  if (!root || !data) return
  const focused = root.contains(root.getRootNode().activeElement)
  const stage = element("div", "stage")
  const svg = document.createElementNS(SVG, "svg")
  svg.setAttribute("aria-hidden", "true")
  const row = buttonsOf(data)
  stage.append(svg, row)
  root.replaceChildren(legend(data), stage)

  if (focused) row.children[data.selected].focus({ preventScroll: true })
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
    event.stopPropagation()
    setTriggerValue("picked", to)
  }
  let width = 0
  const watcher = new ResizeObserver(() => {
    if (stage.clientWidth === width) return
    width = stage.clientWidth
    draw(stage, row, data)
  })
  watcher.observe(stage)
  return () => watcher.disconnect()
}
