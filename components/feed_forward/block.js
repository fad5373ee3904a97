// One block as a picture: wires with lengths, boxes that are real buttons. Python lays it out.
// Everything that shows text sets textContent.

const SVG = "http://www.w3.org/2000/svg"

const shape = (tag, attributes, text) => {
  const node = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value))
  if (text !== undefined) node.textContent = text
  return node
}

const drawing = data => {
  const svg = shape("svg", { viewBox: `0 0 ${data.width} ${data.height}`, "aria-hidden": "true" })
  const defs = shape("defs", {})
  const tip = shape("marker", {
    id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto",
  })
  tip.append(shape("path", { d: "M0 0 L8 4 L0 8 z", fill: "currentColor", "fill-opacity": 0.7 }))
  defs.append(tip)
  svg.append(defs)
  for (const wire of data.wires) {
    const d = wire.points.map(([x, y], index) => `${index ? "L" : "M"} ${x} ${y}`).join(" ")
    const attributes = { d, class: wire.stream ? "wire stream" : "wire" }
    if (!wire.stream) attributes["marker-end"] = "url(#tip)"
    svg.append(shape("path", attributes))
  }
  for (const [x, y] of data.pluses) {
    svg.append(shape("circle", { cx: x, cy: y, r: 13, class: "plus" }))
    svg.append(shape("text", { x, y: y + 6.5, "text-anchor": "middle", class: "sign" }, "+"))
  }
  for (const label of data.labels) {
    svg.append(shape("text", { x: label.x, y: label.y, "text-anchor": label.anchor }, label.text))
  }
  return svg
}

const buttons = data =>
  data.boxes.map(box => {
    const button = document.createElement("button")
    button.type = "button"
    button.dataset.key = box.key
    button.textContent = box.text
    button.setAttribute("aria-pressed", String(box.key === data.selected))
    button.setAttribute("aria-label", box.says)
    button.title = box.says
    button.style.setProperty("--hue", box.colour)
    button.style.left = `${(100 * box.x) / data.width}%`
    button.style.top = `${(100 * box.y) / data.height}%`
    button.style.width = `${(100 * box.w) / data.width}%`
    button.style.height = `${(100 * box.h) / data.height}%`
    return button
  })

const NARROW = 496 // pixels below which the picture stands upright

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".block")
  if (!root || !data) return
  const active = root.getRootNode().activeElement
  let focused = root.contains(active) ? active.dataset.key : undefined
  const canvas = document.createElement("div")
  canvas.style.setProperty("--stream", data.stream)
  canvas.setAttribute("role", "group")
  canvas.setAttribute("aria-label", data.label)
  root.replaceChildren(canvas)
  canvas.onclick = event => {
    const button = event.target.closest("button")
    if (button) setTriggerValue("picked", button.dataset.key)
  }
  let form
  const watcher = new ResizeObserver(() => {
    const wanted = root.clientWidth < NARROW ? "tall" : "wide"
    if (wanted === form) return
    form = wanted
    const drawn = { ...data[form], selected: data.selected }
    canvas.className = `canvas ${form}`
    canvas.style.aspectRatio = `${drawn.width} / ${drawn.height}`
    canvas.replaceChildren(drawing(drawn), ...buttons(drawn))
    if (focused) canvas.querySelector(`[data-key="${focused}"]`)?.focus({ preventScroll: true })
    focused = undefined
  })
  watcher.observe(root)
  return () => watcher.disconnect()
}
