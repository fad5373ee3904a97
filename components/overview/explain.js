// A short text on everything: on hover, on keyboard focus and to a screen reader.
// There is one tip for the whole picture; its text only ever becomes a text node.

// Make an element tell what it is. `texts` holds [name, text] by the thing's own key.
function explained(texts, key, element) {
  const pair = texts?.[key]
  if (!pair || !element) return element
  const [name, text] = pair
  element.classList.add("explained")
  element.tabIndex = 0
  element.setAttribute("role", "img")
  element.setAttribute("aria-label", `${name}. ${text}`)
  element.tip = pair
  return element
}

function showTip(state, target) {
  const { tip, picture } = state
  const [name, text] = target.tip
  tip.replaceChildren(make("strong", "", name), make("span", "", text))
  tip.hidden = false
  const spot = box(state, target)
  const room = picture.clientWidth
  const left = Math.min(Math.max(4, spot.x - tip.offsetWidth / 2), room - tip.offsetWidth - 4)
  tip.style.left = `${Math.max(4, left)}px`
  const above = spot.top - tip.offsetHeight - 6
  tip.style.top = `${above > 30 ? above : spot.bottom + 6}px`
}

function hideTip(state) {
  state.tip.hidden = true
}

function listenForTips(state) {
  const { picture } = state
  const found = (event) => event.target.closest?.(".explained")
  for (const name of ["mouseover", "focusin"]) {
    picture.addEventListener(name, (event) => {
      const target = found(event)
      if (target) showTip(state, target)
      else if (name === "mouseover") hideTip(state)
    })
  }
  picture.addEventListener("focusout", () => hideTip(state))
  picture.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") hideTip(state) // a finger that is lifted leaves, too
  })
  picture.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || state.tip.hidden) return
    hideTip(state)
    event.preventDefault()
  })
  // A mouse has seen the tip before it clicks, so the click opens the card's page; a finger's tap
  // shows the tip.
  picture.addEventListener("click", (event) => {
    const card = found(event)?.closest(".card")
    if (card && event.pointerType === "mouse") card.querySelector(".title").click()
  })
}
