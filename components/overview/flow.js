// The overview picture: cards in the order of the work, arrows between them, and a light that moves.

const ORDER = ["text", "tokens", "vectors", "attention", "feed_forward", "scores", "pick"]
const STATIONS = ["detokenizer", ...ORDER]
const pictures = new WeakMap()

// A card is a list item. Its title is a button that is stretched over the whole card.
function makeCard(name, tag = "li") {
  const title = make("button", "title")
  title.type = "button"
  const card = make(tag, `card ${name}`, title, make("p", "fact"), make("div", "body"),
    make("p", "spoken"))
  card.dataset.card = name
  return card
}

function makeBlock(cards) {
  const head = make("div", "block-head", make("h3", "title"), make("p", "tiny"))
  const steps = make("ul", "block-steps", cards.attention, cards.feed_forward,
    make("li", "lens-box"))
  return make("li", "block", head, steps)
}

function build(root) {
  const cards = {}
  for (const name of [...STATIONS, "speculative"]) cards[name] = makeCard(name)
  const block = makeBlock(cards)
  const wires = svg("g", {})
  const sparks = svg("g", {})
  const drawing = svg("svg", { class: "wires", "aria-hidden": "true" }, wires, sparks)
  const label = make("li", "loop-label")
  const badge = make("span", "badge")
  const flow = make("ol", "flow", cards.text, cards.tokens, cards.vectors, block, cards.scores,
    cards.pick, cards.detokenizer, cards.speculative, label)
  const picture = make("div", "picture", drawing, flow, badge)
  picture.setAttribute("role", "group")
  root.replaceChildren(picture)
  const state = { root, cards, block, drawing, wires, sparks, label, badge, picture }
  Object.assign(state, { tick: null, timers: [] })
  state.observer = new ResizeObserver(() => drawWires(state))
  state.observer.observe(picture)
  return state
}

// Fill one card with its facts; `data.links` says which stage's page the card opens.
function fill(state, name) {
  const { data, cards } = state
  const card = cards[name]
  const facts = data.cards[name]
  const [title, fact, body, spoken] = card.children
  title.textContent = facts.title
  fact.textContent = facts.fact
  body.replaceChildren(...BODIES[name](facts).filter((part) => part !== null))
  for (const drawn of [fact, body]) drawn.setAttribute("aria-hidden", "true")
  spoken.textContent = facts.summary
  const stage = data.links[name]
  title.disabled = !stage
  title.setAttribute("aria-label", stage ? `${facts.title}: ${facts.fact}. Open this stage` : facts.title)
  title.onclick = () => state.open(stage)
  fillGuards(card, data.guards[name] || [])
  if (name === "feed_forward") fillBlock(state)
  if (name === "detokenizer") state.label.textContent = facts.loop
}

function fillBlock(state) {
  const facts = state.data.cards.block
  const [title, note] = state.block.querySelector(".block-head").children
  title.textContent = facts.title
  note.textContent = facts.fact
  const box = state.block.querySelector(".lens-box")
  box.replaceChildren(...BODIES.lens(facts))
  box.setAttribute("aria-hidden", "true")
}

function fillGuards(card, places) {
  card.querySelector(".guards")?.remove()
  if (!places.length) return
  const marks = places.map((place) => make("span", "guard", drawShield(),
    make("span", "hidden", "A guardrail could stand here: "), place))
  card.append(make("span", "guards", ...marks))
}

// Where a wire may start or end, relative to the picture.
function box(state, element) {
  const outer = state.picture.getBoundingClientRect()
  const inner = element.getBoundingClientRect()
  return {
    left: inner.left - outer.left, right: inner.right - outer.left,
    top: inner.top - outer.top, bottom: inner.bottom - outer.top,
    x: (inner.left + inner.right) / 2 - outer.left, y: (inner.top + inner.bottom) / 2 - outer.top,
  }
}

// Straight to the right in one row; down, across and in from above when the row ends.
function between(from, to) {
  if (to.left > from.right - 1) {
    const y = Math.max(from.top, to.top) + Math.min(from.bottom - from.top, to.bottom - to.top) / 2
    return `M${from.right + 2} ${y} H${to.left - 3}`
  }
  const middle = (from.bottom + to.top) / 2
  return `M${from.x} ${from.bottom + 2} V${middle} H${to.x} V${to.top - 3}`
}

// Back to the start: straight up where nothing is in the way, else around on the left.
function returning(from, to, label, block) {
  const y = label.y
  if (block.top > to.bottom) return `M${from.left - 2} ${y} H6 V${to.y} H${to.left - 3}`
  return `M${from.left - 2} ${y} H${to.x} V${to.bottom + 3}`
}

function wirePaths(state) {
  const { cards } = state
  const at = (element) => box(state, element)
  const [text, block, pick, back] = [cards.text, state.block, cards.pick, cards.detokenizer].map(at)
  const spots = [text, at(cards.tokens), at(cards.vectors), block, at(cards.scores), pick]
  const names = ["tokens", "vectors", "attention", "scores", "pick"]
  const paths = names.map((name, index) => [name, between(spots[index], spots[index + 1])])
  const [reading, thinking] = [at(cards.attention), at(cards.feed_forward)]
  const label = at(state.label)
  const detour = at(cards.speculative)
  return [
    ...paths,
    ["feed_forward", `M${thinking.x} ${reading.bottom + 1} V${thinking.top - 3}`],
    ["detokenizer", `M${pick.x} ${pick.bottom + 2} V${back.top - 3}`],
    ["text", returning(back, text, label, block)],
    ["detour", `M${detour.right + 15} ${label.y} V${detour.y} H${detour.right + 3}`],
    ["detour", `M${detour.left - 2} ${detour.y} H${detour.left - 15} V${label.y + 3}`],
  ]
}

function drawWires(state) {
  const { drawing, wires, picture } = state
  if (!picture.isConnected) return
  const lit = new Set([...wires.querySelectorAll(".lit")].map((path) => path.dataset.wire))
  wires.replaceChildren(arrowHead(), ...wirePaths(state).map(([name, path]) => wire(name, path)))
  lit.forEach((name) => wires.querySelector(`[data-wire="${name}"]`)?.classList.add("lit"))
  drawing.setAttribute("width", picture.clientWidth)
  drawing.setAttribute("height", picture.clientHeight)
}

function arrowHead() {
  const shape = svg("path", { d: "M0 0 8 4 0 8Z", class: "head" })
  return svg("defs", {}, svg("marker", {
    id: "head", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 8, markerHeight: 8,
    markerUnits: "userSpaceOnUse", orient: "auto",
  }, shape))
}

function wire(name, path) {
  return svg("path", { d: path, class: `wire ${name}`, "data-wire": name, "marker-end": "url(#head)" })
}

function lightsOut(state) {
  state.picture.querySelectorAll(".lit").forEach((element) => element.classList.remove("lit"))
  state.sparks.replaceChildren()
}

function clearLight(state) {
  state.timers.forEach(clearTimeout)
  state.timers = []
  lightsOut(state)
}

// A spark that runs along one wire.
function spark(state, path, milliseconds) {
  const motion = svg("animateMotion", {
    dur: `${milliseconds}ms`, path: path.getAttribute("d"), begin: "indefinite", fill: "freeze",
  })
  state.sparks.append(svg("circle", { r: 5, class: "spark" }, motion))
  motion.beginElement()
}

function show(state, name, milliseconds) {
  lightsOut(state)
  // The token on its way back is still the one drawn before; the new one comes at the end.
  if (name !== "detokenizer") fill(state, name)
  if (name === "pick") fill(state, "detokenizer")
  state.cards[name].classList.add("lit")
  state.block.classList.toggle("lit", name === "attention" || name === "feed_forward")
  const path = state.wires.querySelector(`[data-wire="${name}"]`)
  if (!path) return
  path.classList.add("lit")
  spark(state, path, milliseconds)
}

// The light visits the stages in order; each shows its new facts when the light reaches it. The
// way back to the text is the longest, so it takes twice as long.
function run(state) {
  const steps = STATIONS.map((name) => [name, name === "text" ? 2 : 1])
  const pace = state.data.light_ms / steps.reduce((sum, [, weight]) => sum + weight, 1)
  let at = 0
  for (const [name, weight] of steps) {
    const duration = pace * weight
    state.timers.push(setTimeout(() => show(state, name, 0.8 * duration), at))
    at += duration
  }
  state.timers.push(setTimeout(() => clearLight(state), at + pace))
}

function paint(state) {
  const { data, root, picture, badge } = state
  picture.setAttribute("aria-label", data.label)
  badge.textContent = data.badge
  badge.hidden = !data.badge
  for (const [name, colour] of Object.entries(data.colours)) {
    root.style.setProperty(`--${name}`, colour)
  }
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches || data.light_ms === 0
  const moved = state.tick !== null && state.tick !== data.tick
  // Only a longer text is the loop's next turn; another prompt's picture comes at once.
  const grown = moved && data.tick.startsWith(state.tick)
  state.tick = data.tick
  if (grown && !still) {
    clearLight(state)
    fill(state, "speculative")
    run(state)
  } else if (moved || !state.timers.length) {
    clearLight(state)
    for (const name of [...STATIONS, "speculative"]) fill(state, name)
  }
  drawWires(state)
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const root = parentElement.querySelector(".root")
  const state = pictures.get(root) || build(root)
  pictures.set(root, state)
  state.data = data
  state.open = (stage) => stage && setTriggerValue("opened", stage)
  paint(state)
  return () => {
    clearLight(state)
    state.observer.disconnect()
    pictures.delete(root)
  }
}
