// The arrows between the cards, and the sparks that run along them.
//
// Where several tokens go through side by side (prefill), an arrow is a bundle; a token that goes
// through alone (decode) has one.

const GAP = 6 // pixels between the arrows of a bundle

// Where a wire may start or end, relative to the picture.
function box(state, element) {
  const outer = state.picture.getBoundingClientRect()
  const inner = element.getBoundingClientRect()
  const scale = outer.width / state.picture.offsetWidth || 1 // presenting enlarges the picture
  const at = (value) => value / scale
  return {
    left: at(inner.left - outer.left), right: at(inner.right - outer.left),
    top: at(inner.top - outer.top), bottom: at(inner.bottom - outer.top),
    x: at((inner.left + inner.right) / 2 - outer.left),
    y: at((inner.top + inner.bottom) / 2 - outer.top),
  }
}

// Straight to the right in one row; down, across and in from above when the row ends.
function between(from, to) {
  if (to.left > from.right - 1) {
    const y = Math.max(from.top, to.top) + Math.min(from.bottom - from.top, to.bottom - to.top) / 2
    return { path: `M${from.right + 2} ${y} H${to.left - 3}`, side: [0, 1] }
  }
  const middle = (from.bottom + to.top) / 2
  return { path: `M${from.x} ${from.bottom + 2} V${middle} H${to.x} V${to.top - 3}`, side: null }
}

// Back to the start: straight up where nothing is in the way, else around on the left.
function returning(from, to, label, block) {
  const y = label.y
  if (block.top > to.bottom) return `M${from.left - 2} ${y} H6 V${to.y} H${to.left - 3}`
  return `M${from.left - 2} ${y} H${to.x} V${to.bottom + 3}`
}

// Every wire: which card it leads to, its path, how many lie side by side and in which direction.
function wirePaths(state) {
  const { cards } = state
  const lanes = state.data.cards.block.lanes
  const at = (element) => box(state, element)
  const [text, block, pick, back] = [cards.text, state.block, cards.pick, cards.detokenizer].map(at)
  const spots = [text, at(cards.tokens), at(cards.vectors), block, at(cards.scores), pick]
  const names = ["tokens", "vectors", "attention", "scores", "pick"]
  const many = new Set(["vectors", "attention"])
  const paths = names.map((name, index) => {
    const { path, side } = between(spots[index], spots[index + 1])
    return { name, path, side, lanes: many.has(name) && side ? lanes : 1 }
  })
  const [reading, thinking] = [at(cards.attention), at(cards.feed_forward)]
  const label = at(state.label)
  const detour = at(cards.speculative)
  return [
    ...paths,
    { name: "feed_forward", path: `M${thinking.x} ${reading.bottom + 1} V${thinking.top - 3}`,
      side: [1, 0], lanes },
    { name: "detokenizer", path: `M${pick.x} ${pick.bottom + 2} V${back.top - 3}`, lanes: 1 },
    { name: "text", path: returning(back, text, label, block), lanes: 1 },
    { name: "detour", path: `M${detour.right + 15} ${label.y} V${detour.y} H${detour.right + 3}`, lanes: 1 },
    { name: "detour", path: `M${detour.left - 2} ${detour.y} H${detour.left - 15} V${label.y + 3}`, lanes: 1 },
  ]
}

function drawWires(state) {
  const { drawing, wires, picture } = state
  if (!picture.isConnected) return
  const lit = new Set([...wires.querySelectorAll(".lit")].map((path) => path.dataset.wire))
  wires.replaceChildren(arrowHead(), ...wirePaths(state).flatMap(bundle))
  lit.forEach((name) => wiresTo(state, name).forEach((path) => path.classList.add("lit")))
  drawing.setAttribute("width", picture.clientWidth)
  drawing.setAttribute("height", picture.clientHeight)
}

function wiresTo(state, name) {
  return [...state.wires.querySelectorAll(`[data-wire="${name}"]`)]
}

function arrowHead() {
  const shape = svg("path", { d: "M0 0 8 4 0 8Z", class: "head" })
  return svg("defs", {}, svg("marker", {
    id: "head", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 8, markerHeight: 8,
    markerUnits: "userSpaceOnUse", orient: "auto",
  }, shape))
}

function bundle({ name, path, side, lanes }) {
  return Array.from({ length: lanes }, (_, lane) => {
    const off = (lane - (lanes - 1) / 2) * GAP
    const [x, y] = side ? side.map((share) => share * off) : [0, 0]
    return svg("path", {
      d: path, class: `wire ${name}`, "data-wire": name, "marker-end": "url(#head)",
      transform: `translate(${x} ${y})`,
    })
  })
}

// A spark that runs along each of the wires to a card.
function sparksTo(state, name, milliseconds) {
  for (const path of wiresTo(state, name)) {
    const motion = svg("animateMotion", {
      dur: `${milliseconds}ms`, path: path.getAttribute("d"), begin: "indefinite", fill: "freeze",
    })
    const dot = svg("circle", { r: 4, class: "spark" }, motion)
    state.sparks.append(svg("g", { transform: path.getAttribute("transform") }, dot))
    motion.beginElement()
  }
}
