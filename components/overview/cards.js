// The inside of each card. Every function returns the elements below the card's title.

function chip(text, className) {
  return make("span", `piece ${className || ""}`, text)
}

function textBody(card) {
  if (card.turns.length) return card.turns.map(turnBody)
  return [
    make("p", "prose", card.prompt, card.written ? make("mark", "", card.written) : null),
  ]
}

function turnBody(turn) {
  return make("div", "turn", make("p", "tiny", turn.who),
    make("p", "said", turn.own ? make("mark", "", turn.words) : turn.words))
}

function tokensBody(card) {
  const rows = card.rows.map((row, index) => {
    if (row.gap) return make("li", "gap", `⋮ ${row.gap}`)
    const kind = row.special ? "special" : row.written ? "new" : ""
    const kept = card.decodes && index + 1 < card.rows.length ? "kept" : ""
    return make("li", kept, chip(row.piece, kind), make("span", "number", row.id))
  })
  return [
    explained(card.explain, "rows", make("ul", "rows", ...rows)),
    make("p", "tiny foot", card.note),
  ]
}

function vectorsBody(card) {
  const tell = (key, element) => explained(card.explain, key, element)
  const dials = make("div", "dials", ...card.dials.map(drawDial))
  return [
    make("p", "tiny line", chip(card.last), " ", card.note),
    tell("cells", make("div", "cells-box", drawCells(card.cells, 8))),
    tell("order", make("p", "tiny", card.order)),
    card.rope ? tell("dials", dials) : null,
    card.rope ? make("p", "tiny foot", "rotary position (RoPE)") : null,
  ]
}

function attentionBody(card) {
  const tell = (key, element) => explained(card.explain, key, element)
  const reads = make("p", "tiny strong", chip(card.reader), " reads ", chip(card.read), " ", card.weight)
  return [
    make("div", "beside",
      tell("pattern", make("div", "pattern-box", drawPattern(card.pattern))),
      make("div", "words",
        tell("head", make("div", "head-words", make("p", "tiny", card.head), reads,
          make("p", "tiny strong", card.removal))),
        tell("cache", make("div", "tiny keep", drawCache(card.cache_rows, card.cache_new),
          make("span", "", card.cache))))),
  ]
}

function feedForwardBody(card) {
  const tell = (key, element) => explained(card.explain, key, element)
  return [tell("norms", make("div", "norms-box", drawNorms(card.heights),
    make("p", "tiny foot", card.note)))]
}

function lensBody(card) {
  const readings = card.lens.map((reading) => {
    const fill = make("i", "lens-fill")
    fill.style.width = `${Math.max(2, 100 * reading.share).toFixed(0)}%`
    return make("li", "", make("span", "tiny layer", reading.layers), chip(reading.piece),
      make("span", "tiny share", reading.percent), make("span", "lens-bar", fill))
  })
  return [
    make("p", "tiny", card.lens_title),
    explained(card.explain, "lens", make("ul", "lens", ...readings)),
  ]
}

function scoresBody(card) {
  const bars = card.bars.map((bar) => {
    const fill = make("i", "bar-fill")
    fill.style.width = `${Math.max(1, 100 * bar.share).toFixed(1)}%`
    return make("li", bar.drawn ? "drawn" : "",
      chip(bar.piece),
      make("span", "bar-line", make("span", "bar", fill), make("span", "number", bar.percent)))
  })
  return [
    explained(card.explain, "bars", make("ul", "bars", ...bars)),
    make("p", "tiny foot", card.note),
  ]
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
    explained(card.explain, "draw", make("div", "draw", bar, pointer)),
    make("p", "tiny", card.how),
    make("p", "result", chip(card.drawn, "new"), make("span", "number", card.chance)),
    explained(card.explain, "note", make("p", "tiny foot", card.note)),
  ]
}

function detokenizerBody(card) {
  return [explained(card.explain, "bytes",
    make("p", "tiny strong", make("span", "number", card.bytes), " ", card.outcome))]
}

function speculativeBody(card) {
  return [make("p", "tiny", card.note)]
}

const BODIES = {
  text: textBody, tokens: tokensBody, vectors: vectorsBody, attention: attentionBody,
  feed_forward: feedForwardBody, lens: lensBody, scores: scoresBody, pick: pickBody,
  detokenizer: detokenizerBody, speculative: speculativeBody,
}
