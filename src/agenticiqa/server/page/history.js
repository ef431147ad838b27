// Recent runs, kept in the browser so that a reload loses nothing.

const KEY = "agenticiqa.runs";
const MOST = 24;
const SIDE = 160;

/** The kept runs, newest first; what cannot be read counts as none. */
export function recall() {
  try {
    const runs = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(runs) ? runs.filter((run) => run && run.run_id && Array.isArray(run.names)) : [];
  } catch {
    return [];
  }
}

/** Keeps a run in place of an older copy; the oldest give way when the browser's store is full. */
export function keep(run) {
  let runs = [run, ...recall().filter((other) => other.run_id !== run.run_id)].slice(0, MOST);
  for (; runs.length; runs = runs.slice(0, -1)) {
    try {
      localStorage.setItem(KEY, JSON.stringify(runs));
      return;
    } catch (error) {
      if (error.name !== "QuotaExceededError") return;
    }
  }
}

/** Forgets one run. */
export function drop(id) {
  try { localStorage.setItem(KEY, JSON.stringify(recall().filter((run) => run.run_id !== id))); } catch { /* nothing was kept then */ }
}

/** Forgets every run. */
export function forget() {
  try { localStorage.removeItem(KEY); } catch { /* nothing was kept then */ }
}

/** A small copy of a picture as a data URL, or null for a format the browser cannot show. */
export async function smallCopy(file) {
  try {
    const picture = await createImageBitmap(file);
    const factor = Math.min(1, SIDE / Math.max(picture.width, picture.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(picture.width * factor));
    canvas.height = Math.max(1, Math.round(picture.height * factor));
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    return canvas.toDataURL("image/jpeg", 0.8);
  } catch {
    return null;
  }
}
