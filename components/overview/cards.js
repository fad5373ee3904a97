// The inside of each card. Every function returns the elements below the card's title.

function chip(text, className) {
  return make("span", `piece ${className || ""}`, text)
}

function textBody(card) {
  return [
    make("p", "prose", card.prompt, card.written ? make("mark", "", card.written) : null),
  ]
}

function tokensBody(card) {
  const rows = card.rows.map((row) => {
    if (row.gap) return make("li", "gap", `⋮ ${row.gap}`)
    const kind = row.special ? "special" : row.written ? "new" : ""
    return make("li", "", chip(row.piece, kind), make("span", "number", row.id))
  })
  return [make("ul", "rows", ...rows), make("p", "tiny foot", card.note)]
}

function vectorsBody(card) {
  const dials = make("div", "dials", ...card.dials.map(drawDial))
  return [
    make("p", "tiny line", chip(card.last), " ", card.note),
    drawCells(card.cells, 8),
    make("p", "tiny", card.order),
    card.rope ? dials : null,
    card.rope ? make("p", "tiny foot", "rotary position (RoPE)") : null,
  ]
}

function attentionBody(card) {
  return [
    make("div", "beside", drawPattern(card.pattern), make("div", "words",
      make("p", "tiny", card.head),
      make("p", "tiny strong", chip(card.reader), " reads ", chip(card.read), " ", card.weight),
      make("p", "tiny keep", drawCache(card.cache_rows), make("span", "", card.cache)))),
  ]
}

function feedForwardBody(card) {
  return [drawNorms(card.heights), make("p", "tiny foot", card.note)]
}

function lensBody(card) {
  const readings = card.lens.map((reading) => {
    const fill = make("i", "lens-fill")
    fill.style.width = `${Math.max(2, 100 * reading.share).toFixed(0)}%`
    return make("li", "", make("span", "tiny layer", reading.layers), chip(reading.piece),
      make("span", "tiny share", reading.percent), make("span", "lens-bar", fill))
  })
  return [make("p", "tiny", card.lens_title), make("ul", "lens", ...readings)]
}

function scoresBody(card) {
  const bars = card.bars.map((bar) => {
    const fill = make("i", "bar-fill")
    fill.style.width = `${Math.max(1, 100 * bar.share).toFixed(1)}%`
    return make("li", bar.drawn ? "drawn" : "",
      chip(bar.piece),
      make("span", "bar-line", make("span", "bar", fill), make("span", "number", bar.percent)))
  })
  return [make("ul", "bars", ...bars), make("p", "tiny foot", card.note)]
}

// The cumulative bar: every survivor has a stretch as long as its probability; u points at one.
function pickBody(card) {
  const bar = make("div", "stack")
  card.segments.forEach((part) => {
    const box = make("span", part.drawn ? "stretch drawn" : "stretch")
    box.style.top = `${(100 * part.start).toFixed(2)}%`
    box.style.height = `${(100 * (part.end - part.start)).toFixed(2)}%`
    if (part.end - part.start > 0.13) box.append(chip(part.piece))
    bar.append(box)
  })
  const pointer = make("span", "pointer", make("span", "tiny", card.u === null ? "" : "u"))
  pointer.style.top = `${(100 * (card.u === null ? (card.at[0] + card.at[1]) / 2 : card.u)).toFixed(2)}%`
  return [
    make("div", "draw", bar, pointer),
    make("p", "tiny", card.how),
    make("p", "result", chip(card.drawn, "new"), make("span", "number", card.chance)),
    make("p", "tiny foot", card.note),
  ]
}

function detokenizerBody(card) {
  return [make("p", "tiny strong", make("span", "number", card.bytes), " ", card.outcome)]
}

function speculativeBody(card) {
  return [make("p", "tiny", card.note)]
}

const BODIES = {
  text: textBody, tokens: tokensBody, vectors: vectorsBody, attention: attentionBody,
  feed_forward: feedForwardBody, lens: lensBody, scores: scoresBody, pick: pickBody,
  detokenizer: detokenizerBody, speculative: speculativeBody,
}
