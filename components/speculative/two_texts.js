// Two texts side by side on one clock: each pass of the model is a box that appears when it was
// there in the race. Every text is set as text, never as markup.

const known = new WeakMap() // parent element -> the signature of what it shows, and its clock
const LONGEST = 6000 // milliseconds that the slower lane is shown for at most

const element = (tag, className, text) => {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

const passBox = (pass, index) => {
  const box = element("span", "pass")
  box.title = `pass ${index + 1}: there after ${(pass.ms / 1000).toFixed(2)} s`
  for (const piece of pass.pieces) box.append(element("span", piece.g ? "guessed" : "", piece.t))
  return box
}

const drawLane = (lane, prompt) => {
  const root = element("div", "lane")
  root.style.setProperty("--lane", lane.colour)
  const name = element("div", "name")
  const clock = element("span", "clock")
  name.append(element("span", "", lane.name), clock)
  const bar = element("div", "bar")
  const done = element("div", "done")
  bar.append(done)
  const text = element("div", "text")
  text.setAttribute("role", "group")
  text.setAttribute("aria-label", lane.name)
  text.append(element("span", "prompt", prompt))
  const boxes = lane.passes.map(passBox)
  text.append(...boxes)
  root.append(name, bar, text)
  return { root, boxes, done, clock, lane }
}

const show = (lanes, moment, longest) => {
  for (const { boxes, done, clock, lane } of lanes) {
    const last = lane.passes.length ? lane.passes[lane.passes.length - 1].ms : 0
    let there = 0
    lane.passes.forEach((pass, index) => {
      const seen = pass.ms <= moment
      boxes[index].classList.toggle("later", !seen)
      if (seen) there = index + 1
    })
    const now = Math.min(moment, last)
    done.style.width = `${(100 * now) / Math.max(longest, 1)}%`
    const passes = there === 1 ? "1 pass" : `${there} passes`
    clock.textContent = `${passes} · ${(now / 1000).toFixed(1)} s`
  }
}

export default function (component) {
  const { data, parentElement } = component
  const root = parentElement.querySelector(".two")
  if (!root || !data) return
  const signature = JSON.stringify(data)
  const state = known.get(parentElement) ?? {}
  known.set(parentElement, state)
  if (state.signature === signature && root.firstChild) return () => cancelAnimationFrame(state.frame)
  state.signature = signature
  root.style.setProperty("--guessed", data.guessed)
  const lanes = data.lanes.map(lane => drawLane(lane, data.prompt))
  const longest = Math.max(...data.lanes.flatMap(lane => lane.passes.map(pass => pass.ms)), 0)
  const grid = element("div", "lanes")
  grid.append(...lanes.map(lane => lane.root))
  const foot = element("div", "foot")
  const replay = element("button", "", data.replay)
  const box = element("span", "")
  box.append(element("span", "pass sample", "…"), data.box)
  const green = element("span", "")
  green.append(element("span", "guessed sample", "…"), data.green)
  foot.append(replay, box, green)
  root.replaceChildren(grid, foot)

  const play = () => {
    cancelAnimationFrame(state.frame)
    const start = performance.now()
    const speed = Math.max(longest / LONGEST, 1)
    const tick = now => {
      const moment = (now - start) * speed
      show(lanes, moment, longest)
      if (moment < longest) state.frame = requestAnimationFrame(tick)
    }
    state.frame = requestAnimationFrame(tick)
  }
  replay.onclick = play
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches
  if (data.plays && !still) play()
  else show(lanes, longest, longest)
  return () => cancelAnimationFrame(state.frame)
}
