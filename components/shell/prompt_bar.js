// The prompt as one box: Enter applies, Shift + Enter makes a line. Texts only ever become text
// nodes or the value of the box.

const SIGNS = { " ": "·", "\n": "⏎", "\t": "⇥", "\u00a0": "⍽" }
const bars = new WeakMap()

function part(tag, className, text) {
  const element = document.createElement(tag)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

function build(root) {
  const about = part("p", "about")
  const name = part("strong")
  const model = part("span")
  about.append(name, " ", model)
  const box = part("textarea")
  box.rows = 1
  box.spellcheck = false
  const ends = part("span", "ends")
  const run = part("button", "run", "Run")
  run.type = "button"
  const frame = part("div", "frame")
  frame.append(box, ends, run)
  root.replaceChildren(about, frame)
  return { name, model, box, ends, run, applied: null }
}

// A blank or a line break at the end is read by the model and seen by nobody else.
function showEnds(bar) {
  const blanks = bar.box.value.match(/[ \n\t\u00a0]+$/)
  bar.ends.textContent = blanks ? `ends with ${[...blanks[0]].map((sign) => SIGNS[sign]).join("")}` : ""
  bar.ends.title = blanks ? "The model reads these blanks too." : ""
  bar.run.classList.toggle("due", bar.box.value !== bar.applied)
}

function fit(bar) {
  bar.box.style.height = "auto"
  bar.box.style.height = `${Math.min(bar.box.scrollHeight, 132)}px`
  showEnds(bar)
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".bar")
  const bar = bars.get(root) || build(root)
  bars.set(root, bar)
  bar.name.textContent = data.name
  bar.model.textContent = data.model
  bar.box.setAttribute("aria-label", "Prompt")
  bar.box.title = "Enter applies, Shift + Enter makes a line"
  bar.box.placeholder = "Type a few words, then press Enter"
  if (bar.applied !== data.prompt) {
    bar.applied = data.prompt
    bar.box.value = data.prompt
  }
  const apply = () => {
    if (bar.box.value === bar.applied) return
    bar.applied = bar.box.value
    showEnds(bar)
    setTriggerValue("applied", bar.box.value)
  }
  bar.box.oninput = () => fit(bar)
  bar.box.onblur = apply
  bar.box.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    apply()
  }
  bar.run.onclick = apply
  fit(bar)
  const watch = new ResizeObserver(() => fit(bar))
  watch.observe(root)
  return () => watch.disconnect()
}
