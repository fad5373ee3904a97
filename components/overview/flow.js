// The overview picture: cards in the order of the work, arrows between them, and a light that moves.

const ORDER = ["text", "tokens", "vectors", "attention", "feed_forward", "scores", "pick", "detokenizer"]
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

function makeBlock(cards, lens) {
  const head = make("div", "block-head", make("h3", "title"), make("span", "phase"), make("p", "tiny"))
  const steps = make("ul", "block-steps", cards.attention, cards.feed_forward, lens)
  return make("li", "block", head, steps)
}

function build(root) {
  const cards = {}
  for (const name of [...ORDER, "speculative"]) cards[name] = makeCard(name)
  const lens = make("li", "lens-box")
  const block = makeBlock(cards, lens)
  const wires = svg("g", {})
  const sparks = svg("g", {})
  const drawing = svg("svg", { class: "wires", "aria-hidden": "true" }, wires, sparks)
  const label = make("li", "loop-label")
  const badge = make("span", "badge")
  const tip = make("div", "tip")
  tip.hidden = true
  tip.setAttribute("aria-hidden", "true") // what it says is the label of what it belongs to
  const legend = make("p", "legend")
  const flow = make("ol", "flow", cards.text, cards.tokens, cards.vectors, block, cards.scores,
    cards.pick, cards.detokenizer, cards.speculative, label)
  const picture = make("div", "picture", drawing, flow, badge, tip)
  picture.setAttribute("role", "group")
  const state = { root, cards, block, lens, drawing, wires, sparks, label, badge, tip, legend, picture }
  Object.assign(state, { tick: null, timer: null })
  root.replaceChildren(buildWalk(state), picture, legend)
  listenForTips(state)
  state.observer = new ResizeObserver(() => drawWires(state))
  state.observer.observe(picture)
  return state
}

// Hide from screen readers what the card's sentence says, but not what explains itself.
function quiet(element) {
  if (element.matches(".explained")) return
  if (element.querySelector(".explained")) [...element.children].forEach(quiet)
  else element.setAttribute("aria-hidden", "true")
}

// Fill one card with its facts; `data.links` says which stage's page the card opens.
function fill(state, name) {
  const { data, cards } = state
  const card = cards[name]
  const facts = data.cards[name]
  const [title, fact, body, spoken] = card.children
  title.textContent = facts.title
  fact.textContent = facts.fact
  fact.setAttribute("aria-hidden", "true")
  body.replaceChildren(...BODIES[name](facts).filter((part) => part !== null))
  ;[...body.children].forEach(quiet)
  spoken.textContent = facts.summary
  const stage = data.links[name]
  title.disabled = !stage
  title.setAttribute("aria-label", stage ? `${facts.title}: ${facts.fact}. Open this stage` : facts.title)
  title.onclick = () => state.open(stage)
  fillGuards(card, data.guards[name] || [])
}

function fillBlock(state) {
  const facts = state.data.cards.block
  const [title, phase, note] = state.block.querySelector(".block-head").children
  title.textContent = facts.title
  phase.textContent = facts.phase
  explained(facts.explain, "phase", phase)
  note.textContent = facts.fact
  explained(facts.explain, "note", note)
  state.lens.replaceChildren(...BODIES.lens(facts))
  ;[...state.lens.children].forEach(quiet)
}

function fillGuards(card, places) {
  card.querySelector(".guards")?.remove()
  if (!places.length) return
  const marks = places.map((place) => make("span", "guard", drawShield(),
    make("span", "hidden", "A guardrail could stand here: "), place))
  card.append(make("span", "guards", ...marks))
}

function fillLegend(state) {
  const signs = state.data.legend.flatMap(([sign, meaning]) => [chip(sign), ` ${meaning}`])
  const drawn = chip("token", "new")
  state.legend.replaceChildren(make("b", "", "Signs "), ...signs, drawn, " written by the model")
}

function paint(state) {
  const { data, root, picture, badge } = state
  picture.setAttribute("aria-label", data.label)
  badge.textContent = data.badge
  badge.hidden = !data.badge
  root.classList.toggle("veiled", data.hides)
  for (const [name, colour] of Object.entries(data.colours)) {
    root.style.setProperty(`--${name}`, colour)
  }
  for (const name of [...ORDER, "speculative"]) fill(state, name)
  fillBlock(state)
  fillLegend(state)
  state.label.textContent = data.cards.detokenizer.loop
  hideTip(state)
  drawWires(state)
  paintWalk(state)
  const moved = state.tick !== data.tick
  const fresh = state.tick === null || !state.tick.startsWith("live")
  const grown = moved && !fresh && data.tick.startsWith(state.tick)
  state.tick = data.tick
  if (!moved || !data.live || !data.walk.length) return
  // Another prompt's picture comes without a walk; a longer text is the loop's next turn.
  if (!fresh && !grown) stopWalk(state)
  else if (state.held && grown) light(state, 0)
  else if (!still()) startWalk(state, 0)
}

export default function (component) {
  const { data, parentElement } = component
  const root = parentElement.querySelector(".root")
  const state = pictures.get(root) || build(root)
  pictures.set(root, state)
  state.data = data
  state.open = (stage) => {
    if (stage) document.dispatchEvent(new CustomEvent("token-by-token-lead", { detail: stage }))
  }
  paint(state)
  state.deaf?.()
  state.deaf = listenForKeys(state)
  return () => {
    state.deaf()
    clearTimeout(state.timer)
    state.observer.disconnect()
    pictures.delete(root)
  }
}
