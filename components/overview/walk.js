// The walk: the light goes from stage to stage, with a sentence on each, at the speaker's pace.
//
// It sets out when the picture is first seen and when the text has grown, unless somebody has
// stopped it or asks for reduced motion; then it goes by hand. Keys: W walks and stops, comma and
// full stop step back and forward, and so do the arrow keys while the focus is on the bar.

const PACE_KEPT = "token-by-token pace"
const IDLE = "Walk through the picture: ▶ lights one stage after the other, › goes by hand."

function buildWalk(state) {
  const button = (sign, name, act) => {
    const made = make("button", "step", sign)
    made.type = "button"
    made.title = name
    made.setAttribute("aria-label", name)
    made.onclick = act
    return made
  }
  const back = button("‹", "One stage back (comma)", () => stepBy(state, -1))
  const play = button("▶", "Walk (W)", () => toggleWalk(state))
  const on = button("›", "One stage on (full stop)", () => stepBy(state, 1))
  const pace = make("select", "pace")
  pace.setAttribute("aria-label", "Pace of the walk")
  pace.onchange = () => choosePace(state, pace.value)
  const sentence = make("p", "sentence")
  sentence.setAttribute("aria-live", "polite")
  const bar = make("div", "walk", back, play, on, pace, sentence)
  bar.setAttribute("role", "group")
  bar.setAttribute("aria-label", "Walk")
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!by || event.target === pace) return
    event.preventDefault()
    event.stopPropagation()
    stepBy(state, by)
  })
  Object.assign(state, { walkBar: bar, play, pace, sentence, at: -1, walking: false, held: false })
  return bar
}

function still() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches
}

// The chosen pace lasts as long as the browser's tab, page changes included.
function choosePace(state, name) {
  state.paceName = name
  try { sessionStorage.setItem(PACE_KEPT, name) } catch { /* no storage: the choice is for now */ }
  if (state.walking) wait(state)
}

function keptPace(paces) {
  let kept = null
  try { kept = sessionStorage.getItem(PACE_KEPT) } catch { /* no storage */ }
  return kept in paces ? kept : Object.keys(paces)[0]
}

function paintWalk(state) {
  const { pace, data } = state
  state.walkBar.hidden = !data.walk.length
  if (!pace.children.length) {
    state.paceName = keptPace(data.paces)
    for (const name of Object.keys(data.paces)) {
      const option = make("option", "", name)
      option.value = name
      pace.append(option)
    }
    pace.value = state.paceName
  }
  say(state)
}

function say(state) {
  const step = state.data.walk[state.at]
  const count = `${state.at + 1} of ${state.data.walk.length}`
  const parts = step ? [make("b", "", `${count} · ${step.title}. `), step.sentence] : [IDLE]
  state.sentence.replaceChildren(...parts)
  state.play.textContent = state.walking ? "❚❚" : "▶"
  state.play.title = state.walking ? "Stop here (W)" : "Walk (W)"
  state.play.setAttribute("aria-label", state.play.title)
}

function lightsOut(state) {
  state.picture.querySelectorAll(".lit").forEach((element) => element.classList.remove("lit"))
  state.sparks.replaceChildren()
}

function light(state, at) {
  lightsOut(state)
  state.at = at
  const step = state.data.walk[at]
  if (step) {
    const name = step.card
    const lit = name === "lens" ? state.lens : state.cards[name]
    lit.classList.add("lit")
    state.block.classList.toggle("lit", ["attention", "feed_forward", "lens"].includes(name))
    // Nothing has come back yet while the prompt itself goes through.
    const came = name !== "text" || state.data.cards.tokens.decodes
    if (came) wiresTo(state, name).forEach((path) => path.classList.add("lit"))
    if (came && !still()) sparksTo(state, name, Math.min(1200, 0.6 * state.data.paces[state.paceName]))
  }
  say(state)
}

function wait(state) {
  clearTimeout(state.timer)
  state.timer = setTimeout(() => {
    const next = state.at + 1
    if (next >= state.data.walk.length) return stopWalk(state)
    light(state, next)
    wait(state)
  }, state.data.paces[state.paceName])
}

function startWalk(state, at) {
  state.walking = true
  light(state, at)
  wait(state)
}

// End the walk and put the lights out.
function stopWalk(state) {
  clearTimeout(state.timer)
  state.walking = false
  light(state, -1)
}

function toggleWalk(state) {
  clearTimeout(state.timer)
  state.held = state.walking
  if (state.walking) {
    state.walking = false
    say(state)
  } else startWalk(state, Math.max(0, state.at))
}

function stepBy(state, by) {
  clearTimeout(state.timer)
  state.walking = false
  state.held = true
  const count = state.data.walk.length
  const from = state.at < 0 && by < 0 ? count : state.at
  light(state, from + by >= count ? -1 : from + by)
}

function typing(target) {
  const deep = target?.shadowRoot?.activeElement || target
  return !!deep && (deep.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(deep.tagName))
}

function listenForKeys(state) {
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (typing(document.activeElement) || !state.data.walk.length) return
    if (event.key === ",") stepBy(state, -1)
    else if (event.key === ".") stepBy(state, 1)
    else if (event.key === "w" || event.key === "W") toggleWalk(state)
  }
  document.addEventListener("keydown", press)
  return () => document.removeEventListener("keydown", press)
}
