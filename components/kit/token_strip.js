// The token strip. Everything that shows text sets textContent: no token is ever markup.

const drawn = new WeakMap() // parent element -> what it shows, so that focus survives a rerun

const element = (tag, className, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

// The tooltip, which is also what a screen reader says.
const description = (token, index, data) => {
  const [start, end] = token.s
  const lines = [
    `${token.x ? "special token" : "token"} ${index + 1} of ${data.total}: ${token.t}`,
    `id ${token.i}`,
    `in the vocabulary: ${token.p}`,
    `bytes: ${token.b || "none"}`,
    end > start ? `characters ${start + 1} to ${end}` : "covers no character of its own",
  ]
  if (token.w) lines.push(`with its neighbours: ${token.w}`)
  if (token.v !== undefined) lines.push(`${data.value_label}: ${token.y}`)
  return lines.join("\n")
}

const chip = (token, index, data) => {
  const button = element("button", token.x ? "chip special" : "chip")
  button.type = "button"
  button.dataset.index = index
  button.style.setProperty("--hue", data.colours[token.c])
  button.append(element("span", "piece", token.t === "" ? "∅" : token.t))
  if (data.show_ids) button.append(element("span", "id", String(token.i)))
  if (token.v !== undefined) {
    const bar = element("span", "bar")
    const fill = element("i")
    fill.style.width = `${token.v * 100}%`
    bar.append(fill)
    button.append(bar)
  }
  const text = description(token, index, data)
  button.title = text
  button.setAttribute("aria-label", text.replaceAll("\n", ", "))
  return button
}

const chips = data => {
  const row = element("div", "chips")
  row.setAttribute("role", "group")
  row.setAttribute("aria-label", data.label)
  let parts = null
  data.tokens.forEach((token, offset) => {
    const button = chip(token, data.start + offset, data)
    if (!token.w) {
      parts = null
      row.append(button)
      return
    }
    if (token.f || !parts) {
      const whole = element("div", "whole")
      whole.append(element("div", "together", token.w))
      parts = element("div", "parts")
      whole.append(parts)
      row.append(whole)
    }
    parts.append(button)
  })
  if (!data.total) row.append(element("span", "none", "no tokens"))
  return row
}

const head = (data, setStateValue) => {
  const line = element("div", "head")
  const count = data.total === 1 ? "1 token" : `${data.total.toLocaleString("en")} tokens`
  const last = data.start + data.tokens.length
  const part = data.tokens.length < data.total
  line.append(
    element("span", "", `${data.label} · ${part ? `${data.start + 1} to ${last} of ${count}` : count}`),
  )
  if (!part) return line
  const turn = (text, start, usable) => {
    const button = element("button", "", text)
    button.type = "button"
    button.disabled = !usable
    button.onclick = () => setStateValue("window", { start, selected: data.selected })
    line.append(button)
  }
  turn("← earlier", Math.max(0, data.start - data.step), data.start > 0)
  turn("later →", data.start + data.step, last < data.total)
  return line
}

const mark = (buttons, selected) => {
  const inside = buttons.some(button => Number(button.dataset.index) === selected)
  buttons.forEach((button, offset) => {
    const on = Number(button.dataset.index) === selected
    button.setAttribute("aria-pressed", String(on))
    // One stop for the Tab key; the arrow keys move inside.
    button.tabIndex = on || (!inside && offset === 0) ? 0 : -1
  })
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

export default function (component) {
  const { data, parentElement, setStateValue, setTriggerValue } = component
  const root = parentElement.querySelector(".strip")
  if (!root || !data) return

  const { selected } = data
  // The heading's buttons remember the selection, so that belongs to the signature of a long strip.
  const signature = JSON.stringify(data.tokens.length < data.total ? data : { ...data, selected: null })
  const known = drawn.get(parentElement) ?? {}
  drawn.set(parentElement, known)
  if (known.signature !== signature || !root.firstChild) {
    known.signature = signature
    root.replaceChildren(head(data, setStateValue), chips(data))
  }
  const buttons = [...root.querySelectorAll(".chip")]
  // While an arrow key is on its way the strip is ahead of the page: keep what is marked.
  if (!known.pending) mark(buttons, selected)

  const choose = index => setTriggerValue("picked", index)
  const row = root.querySelector(".chips")
  row.onclick = event => {
    const button = event.target.closest(".chip")
    if (!button) return
    const index = Number(button.dataset.index)
    mark(buttons, index)
    choose(index)
  }
  row.onkeydown = event => {
    const from = buttons.indexOf(event.target.closest(".chip"))
    if (from < 0) return
    let to = from + (STEPS[event.key] ?? 0)
    if (event.key === "Home") to = 0
    if (event.key === "End") to = buttons.length - 1
    if (to === from || !buttons[to]) return
    event.preventDefault()
    const index = Number(buttons[to].dataset.index)
    mark(buttons, index)
    buttons[to].focus()
    // A held key moves the mark at once and tells the page when it rests.
    clearTimeout(known.pending)
    known.pending = setTimeout(() => {
      known.pending = undefined
      choose(index)
    }, 200)
  }
  return () => clearTimeout(known.pending)
}
