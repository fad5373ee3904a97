// Keeps the key of a room in this tab, and goes where the teacher is. Streamlit itself listens to
// the browser's history: an address that is put there is read like one that Back leads to.

const gone = new Set()

function stored() {
  try {
    return window.sessionStorage
  } catch {
    return null // the browser keeps nothing: a reload then asks for the name again
  }
}

export default function (component) {
  const { data, setStateValue } = component
  const storage = stored()
  if (data.keep) storage?.setItem(data.slot, data.keep)
  const kept = data.ask ? storage?.getItem(data.slot) : null
  if (kept) setStateValue("kept", kept)
  if (data.address && !gone.has(data.version)) {
    gone.add(data.version)
    window.history.replaceState(null, "", data.address)
    window.dispatchEvent(new PopStateEvent("popstate"))
  }
}
