// Small drawing helpers. Text from a user or a model only ever becomes a text node.

const SVG = "http://www.w3.org/2000/svg"

function make(tag, className, ...children) {
  const element = document.createElement(tag)
  if (className) element.className = className
  for (const child of children) {
    if (child === null || child === undefined) continue
    element.append(child instanceof Node ? child : document.createTextNode(String(child)))
  }
  return element
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

function tint(color, share) {
  return `color-mix(in srgb, ${color} ${(100 * Math.min(1, share)).toFixed(1)}%, var(--blank))`
}

// A vector's numbers: one colour above zero, one below, pale near it.
function drawCells(values, columns) {
  const rows = Math.ceil(values.length / columns)
  const picture = svg("svg", { viewBox: `0 0 ${columns} ${rows}`, class: "cells" })
  picture.setAttribute("preserveAspectRatio", "none")
  values.forEach((value, index) => {
    const cell = svg("rect", {
      x: (index % columns) + 0.04, y: Math.floor(index / columns) + 0.04, width: 0.92, height: 0.92,
    })
    cell.style.fill = tint(value < 0 ? "var(--minus)" : "var(--plus)", Math.sqrt(Math.abs(value)))
    picture.append(cell)
  })
  return picture
}

// One rotated pair of numbers: a clock hand, turned from three o'clock against the clock.
function drawDial(dial) {
  const x = 15 + 11 * Math.cos(dial.angle)
  const y = 15 - 11 * Math.sin(dial.angle)
  const face = svg("svg", { viewBox: "0 0 30 30", class: "dial" },
    svg("circle", { cx: 15, cy: 15, r: 12.5, class: "dial-face" }),
    svg("line", { x1: 15, y1: 15, x2: 26, y2: 15, class: "dial-zero" }),
    svg("line", { x1: 15, y1: 15, x2: x.toFixed(2), y2: y.toFixed(2), class: "dial-hand" }))
  return make("span", "dial-box", face, make("span", "tiny", dial.label))
}

// A head's pattern: rows read, columns are read; nothing above the diagonal can be read.
function drawPattern(pattern) {
  const count = pattern.length
  const picture = svg("svg", { viewBox: `0 0 ${count} ${count}`, class: "pattern" })
  pattern.forEach((row, query) => row.forEach((weight, key) => {
    if (key > query) return
    const cell = svg("rect", { x: key + 0.04, y: query + 0.04, width: 0.92, height: 0.92 })
    cell.style.fill = tint("var(--accent)", Math.sqrt(weight))
    picture.append(cell)
  }))
  return picture
}

// The length of the residual vector after each layer, as a filled line.
function drawNorms(heights) {
  const step = 100 / Math.max(1, heights.length - 1)
  const points = heights.map((height, index) => [index * step, 28 - 25 * height])
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")
  const picture = svg("svg", { viewBox: "0 0 100 30", class: "norms" },
    svg("polygon", { points: `0,30 ${line} 100,30`, class: "norms-fill" }),
    svg("polyline", { points: line, class: "norms-line" }))
  picture.setAttribute("preserveAspectRatio", "none")
  return picture
}

// One key and one value per token; those from before this pass are pale.
function drawCache(rows, fresh) {
  const picture = make("span", "cache")
  for (const [letter, kind] of [["K", "cache-key"], ["V", "cache-value"]]) {
    const line = make("span", "cache-line", make("b", "", letter))
    for (let row = 0; row < rows; row += 1) {
      line.append(make("i", row < rows - fresh ? `${kind} old` : kind))
    }
    picture.append(line)
  }
  return picture
}

function drawShield() {
  return svg("svg", { viewBox: "0 0 16 16", class: "shield" },
    svg("path", { d: "M8 1 14 3.2V8c0 3.6-2.5 5.9-6 7-3.500-1.100-6-3.400-6-7V3.200Z" }))
}
