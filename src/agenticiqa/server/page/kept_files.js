// The chosen files, kept for this tab so that a reload does not lose the form.

const NAME = "agenticiqa.form";
const MOST_BYTES = 64_000_000;

/** Keeps the chosen files; more than fits in 64 MB is not kept. */
export async function keepFiles({ images, reference, used }) {
  const files = images.map((image) => image.file);
  const bytes = [...images, reference].reduce((sum, image) => sum + (image?.size ?? 0), 0);
  const fits = bytes <= MOST_BYTES;
  try {
    sessionStorage.setItem(NAME, "kept");
    await change("readwrite", (store) => store.put(fits ? { files, reference: reference?.file ?? null, used } : { files: [], reference: null, used: false }, "form"));
  } catch { /* they are chosen again then */ }
}

/** What was kept in this tab, or null; what another tab left behind is removed. */
export async function recallFiles() {
  try {
    if (sessionStorage.getItem(NAME)) return (await change("readonly", (store) => store.get("form"))) ?? null;
    await change("readwrite", (store) => store.clear());
  } catch { /* nothing was kept then */ }
  return null;
}

function change(mode, act) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(NAME, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("files");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const work = opening.result.transaction("files", mode);
      const asked = act(work.objectStore("files"));
      work.oncomplete = () => { opening.result.close(); resolve(asked.result); };
      work.onabort = () => { opening.result.close(); reject(work.error); };
    };
  });
}
