// What lasts for a tab or a visit: the token, what was typed, the theme.
import { at } from "./dom.js";

/** Asks for the token; resolves to it, or to null. */
export function askToken(wrong) {
  const dialog = at("token");
  at("token-wrong").hidden = !wrong;
  const value = at("token-value");
  value.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "use" ? value.value.trim() || null : null), { once: true });
  });
}

/** What was typed into a field in this tab before a reload. */
export function recalled(field) {
  try { return sessionStorage.getItem(`agenticiqa.${field}`) ?? ""; } catch { return ""; }
}

/** Keeps it for the tab. */
export function store(field, value) {
  try { sessionStorage.setItem(`agenticiqa.${field}`, value); } catch { /* it is given again then */ }
}

/** Uses a theme, and remembers it. */
export function chooseTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("agenticiqa.theme", theme); } catch { /* it lasts for this visit then */ }
}
