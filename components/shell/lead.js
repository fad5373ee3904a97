// Goes to another page as the browser's Forward does: its address becomes the next entry of the
// history, and Streamlit, which hears `popstate`, draws the page of that address. Through Python
// there would be an entry with the old page's address and none of its view in between.
//
// A page keeps its own parameters for the next visit; the shared ones go along.

const LEFT = "token-by-token left "
const seen = (page) => new URLSearchParams(sessionStorage.getItem(LEFT + page) || "")

// The pages lie beside each other, and the first one is the folder itself.
const folder = () => location.pathname.replace(/[^/]*$/, "")
const here = () => location.pathname.slice(folder().length)

function remember() {
  try {
    sessionStorage.setItem(LEFT + here(), location.search)
  } catch {
    // Without storage a page opens with its first view.
  }
}

function addressOf(page, data, asked) {
  const own = seen(page)
  for (const name of [...data.shared, ...data.fresh]) own.delete(name)
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (data.shared.includes(name)) own.append(name, value)
  }
  for (const [name, value] of new URLSearchParams(asked)) own.set(name, value)
  const search = own.toString()
  return folder() + page + (search && `?${search}`)
}

function lead(data, key, asked = "") {
  const chip = data.chips.find((one) => one.key === key)
  if (!chip || chip.current) return
  remember()
  history.pushState({}, "", addressOf(chip.url, data, asked))
  window.dispatchEvent(new PopStateEvent("popstate"))
}

// Streamlit's own links between pages would leave two entries behind, so they lead the same way.
function follow(data, event) {
  remember()
  const link = event.target.closest?.('[data-testid="stPageLink-NavLink"]')
  const plain = !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
  // As it is written: the first page's link is empty, and would mean the page that one is on.
  const [path, asked] = (link?.getAttribute("href") ?? "").split("?")
  const chip = link && data.chips.find((one) => one.url === path.split("/").pop())
  if (!chip || chip.current || !plain) return
  event.preventDefault()
  event.stopPropagation()
  lead(data, chip.key, asked)
}
