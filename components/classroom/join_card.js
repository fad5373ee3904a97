// A QR code from one path, and the words beside it. Texts only ever become text nodes.

const SVG = "http://www.w3.org/2000/svg"

function part(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}

function picture(data) {
  const svg = document.createElementNS(SVG, "svg")
  svg.setAttribute("viewBox", `0 0 ${data.size} ${data.size}`)
  svg.setAttribute("role", "img")
  svg.setAttribute("aria-label", data.label)
  const path = document.createElementNS(SVG, "path")
  path.setAttribute("d", data.path)
  path.setAttribute("stroke", "#000000")
  path.setAttribute("stroke-width", "1.02")
  path.setAttribute("fill", "none")
  svg.append(path)
  return svg
}

export default function (component) {
  const { data, parentElement } = component
  const card = parentElement.querySelector(".card")
  const here = card.querySelector(".here")
  if (here && card.dataset.link === data.link) {
    here.textContent = data.here
    return
  }
  card.dataset.link = data.link
  const words = part("div", "words", "")
  words.append(
    part("p", "", "Point a phone's camera at the square, or open"),
    part("p", "link", data.link),
    part("p", "", "or type this code under “A class together” at the left:"),
    part("p", "code", data.code),
    part("p", "here", data.here),
  )
  const row = part("div", "row", "")
  row.append(picture(data), words)
  card.replaceChildren(row)
}
