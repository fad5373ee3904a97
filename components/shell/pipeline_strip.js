// One row of chips over everything else. Texts only ever become text nodes.
//
// The keyboard leads on too: P presents, Escape ends that, and while presenting the arrow keys
// go to the stage before or after.

const NARROW = 1200
const strips = new WeakMap()

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
  link.title = chip.help
  link.dataset.stage = chip.key
  link.classList.toggle("guard", chip.guard)
  if (chip.current) link.setAttribute("aria-current", "page")
  else link.removeAttribute("aria-current")
  link.onclick = () => choose(chip.key)
}

function build(nav) {
  const list = document.createElement("ol")
  const words = part("button", "tool", "?")
  const present = part("button", "tool")
  for (const button of [words, present]) button.type = "button"
  words.title = "Signs and words: what they mean"
  words.setAttribute("aria-label", "Signs and words")
  nav.replaceChildren(list, words, present)
  return { nav, list, words, present, current: null, told: false }
}

// The strip lies in the band of Streamlit's own header, as wide as the page beside the sidebar.
// The page below begins under that band, whether or not Streamlit leaves room for its header.
const BAND = 60
const EDGE = 52 // on the left stands the button that opens the sidebar, on the right the status

function place(strip) {
  const host = strip.nav.parentElement
  const { left, right, top } = host.getBoundingClientRect()
  const open = left > 200
  const from = open ? left - (window.innerWidth - right) + 12 : EDGE
  strip.nav.style.left = `${from}px`
  strip.nav.style.width = `${window.innerWidth - from - EDGE}px`
  let scrolled = 0
  for (let outer = host; outer; outer = outer.parentElement || outer.getRootNode().host) {
    scrolled += outer.scrollTop || 0
  }
  strip.nav.parentElement.style.height = `${Math.max(0, BAND - top - scrolled)}px`
}

function typing(target) {
  const deep = target.shadowRoot?.activeElement || target
  return deep.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(deep.tagName)
}

function larger(on) {
  const page = document.documentElement
  if (on) {
    page.style.setProperty("font-size", "19px")
    page.style.setProperty("--present-zoom", "1.2")
  } else {
    page.style.removeProperty("font-size")
    page.style.removeProperty("--present-zoom")
  }
}

function listen(strip, data, send) {
  const keys = data.chips.map((chip) => chip.key)
  const at = keys.indexOf(data.chips.find((chip) => chip.current)?.key)
  const press = (event) => {
    const named = event.ctrlKey || event.metaKey || event.altKey
    if (named || event.defaultPrevented || typing(document.activeElement)) return
    if (event.key === "p" || event.key === "P") send("present", !data.presenting)
    else if (event.key === "Escape" && data.presenting) send("present", false)
    else if (data.presenting && event.key === "ArrowRight" && at + 1 < keys.length) lead(data, keys[at + 1])
    else if (data.presenting && event.key === "ArrowLeft" && at > 0) lead(data, keys[at - 1])
  }
  const asked = (event) => lead(data, event.detail)
  const click = (event) => follow(data, event)
  document.addEventListener("keydown", press)
  document.addEventListener("click", click, true)
  document.addEventListener("token-by-token-lead", asked)
  return () => {
    document.removeEventListener("keydown", press)
    document.removeEventListener("click", click, true)
    document.removeEventListener("token-by-token-lead", asked)
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue, setStateValue } = component
  const nav = parentElement.querySelector(".strip")
  const strip = strips.get(nav) || build(nav)
  strips.set(nav, strip)
  const { list, words, present } = strip
  // Chips are kept, so that the focus stays where it is while their facts change.
  while (list.children.length > data.chips.length) list.lastElementChild.remove()
  while (list.children.length < data.chips.length) list.append(makeChip())
  list.style.setProperty("--count", data.chips.length)
  data.chips.forEach((chip, index) => {
    fillChip(list.children[index], chip, (key) => lead(data, key))
  })
  present.textContent = data.presenting ? "✕" : "⤢"
  present.setAttribute("aria-label", data.presenting ? "Stop presenting" : "Present")
  present.title = data.presenting ? "Stop presenting (P or Escape)"
    : "Present: larger type, no sidebar, arrow keys lead on (P)"
  words.onclick = () => setTriggerValue("words", true)
  present.onclick = () => setTriggerValue("present", !data.presenting)
  larger(data.presenting)
  place(strip)
  const here = list.querySelector("[aria-current]")?.parentElement
  if (here && strip.current !== here) {
    strip.current = here
    // Once the row has its width.
    requestAnimationFrame(() => {
      list.scrollLeft = here.offsetLeft - (list.clientWidth - here.clientWidth) / 2
    })
  }
  const narrow = window.innerWidth < NARROW
  if (narrow && !data.narrow && !strip.told) {
    strip.told = true
    setStateValue("narrow", true)
  }
  const watch = new ResizeObserver(() => place(strip))
  watch.observe(nav.parentElement)
  const again = () => place(strip)
  window.addEventListener("resize", again)
  strip.deaf?.()
  strip.deaf = listen(strip, data, setTriggerValue)
  return () => {
    watch.disconnect()
    window.removeEventListener("resize", again)
    strip.deaf()
  }
}
