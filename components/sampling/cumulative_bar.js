// The line from 0 to 1: each token has its share of it, and u points at one of them.
// Texts only ever become text nodes.

function part(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

function segment(entry) {
  const box = part("div", entry.picked ? "segment picked" : "segment")
  if (entry.rest) box.classList.add("rest")
  box.style.left = `${100 * entry.start}%`
  box.style.width = `${100 * (entry.end - entry.start)}%`
  box.title = entry.hover
  if (entry.end - entry.start > 0.045) box.append(part("span", "name", entry.label))
  return box
}

export default function (component) {
  const { data, parentElement } = component
  const root = parentElement.querySelector(".line")
  // A slider calls every card; those for which nothing changed stay as they are.
  const message = JSON.stringify(data)
  if (root.message === message) return
  root.message = message
  const bar = part("div", "bar")
  bar.setAttribute("role", "img")
  bar.setAttribute("aria-label", data.alt)
  bar.append(...data.segments.map(segment))
  const marker = part("div", "marker")
  marker.style.left = `${100 * data.u}%`
  const flag = part("div", "flag", data.flag)
  flag.style.left = `${100 * data.u}%`
  flag.classList.toggle("left", data.u > 0.7)
  bar.append(marker)
  const ends = part("div", "ends")
  ends.append(part("span", "", "0"), part("span", "", data.caption), part("span", "", "1"))
  root.replaceChildren(flag, bar, ends)
}
