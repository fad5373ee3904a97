// The answer: one button a token in a flowing text. Every text is set as text, never as markup.

const known = new WeakMap() // parent element -> the signature of what it shows

const element = (tag, className, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

const button = (piece, index, colours) => {
  const kind = piece.e ? " end" : piece.p ? " partial" : ""
  // Not a <button>: those don't break across lines as words of a text do.
  const node = element("span", `piece${kind}`, piece.t)
  node.setAttribute("role", "button")
  node.dataset.index = index
  node.style.setProperty("--shade", colours[piece.k])
  if (piece.x) node.append(element("span", "cut", piece.x))
  node.title = piece.l
  node.setAttribute("aria-label", piece.l)
  return node
}

const draw = (root, data) => {
  const parts = [element("span", "prompt", data.prompt)]
  data.pieces.forEach((piece, index) => {
    parts.push(button(piece, index, data.colours))
    if (piece.b) parts.push(element("br"))
  })
  root.replaceChildren(...parts)
}

const mark = (buttons, selected, upto) => {
  buttons.forEach((node, index) => {
    const on = index === selected
    node.setAttribute("aria-pressed", String(on))
    node.classList.toggle("later", index >= upto)
    // One stop for the Tab key; the arrow keys move inside.
    node.tabIndex = on || (selected === null && index === 0) ? 0 : -1
  })
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".answer")
  if (!root || !data) return
  const signature = JSON.stringify([data.prompt, data.pieces])
  const state = known.get(parentElement) ?? {}
  known.set(parentElement, state)
  if (state.signature !== signature || !root.firstChild) {
    state.signature = signature
    draw(root, data)
  }
  const buttons = [...root.querySelectorAll(".piece")]
  if (!state.pending) mark(buttons, data.selected, data.upto)
  const choose = index => setTriggerValue("picked", index)

  root.onclick = event => {
    const node = event.target.closest(".piece")
    if (node) choose(Number(node.dataset.index))
  }
  root.onkeydown = event => {
    const from = buttons.indexOf(event.target.closest(".piece"))
    if (from < 0) return
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault()
      choose(from)
      return
    }
    let to = from + (STEPS[event.key] ?? 0)
    if (event.key === "Home") to = 0
    if (event.key === "End") to = buttons.length - 1
    if (to === from || !buttons[to]) return
    event.preventDefault()
    mark(buttons, to, to + 1)
    buttons[to].focus()
    // A held key moves the mark at once and tells the page when it rests.
    clearTimeout(state.pending)
    state.pending = setTimeout(() => {
      state.pending = undefined
      choose(to)
    }, 200)
  }
  return () => clearTimeout(state.pending)
}
