// A folder on the service's machine, named instead of uploaded; offered where the service may read any.
import { at, make } from "./dom.js";

/** Shows the field where folders are allowed; `check(paths)` gets the pictures of the one that was named. */
export async function offerFolders(service, check, complain) {
  const { folders } = await service.json("/v1/folders").catch(() => ({ folders: [] }));
  at("folder-slot").hidden = !folders.length;
  if (!folders.length) return;
  at("folder-list").replaceChildren(...folders.map((value) => make("option", { value })));
  at("folder-path").value ||= folders[0];
  const go = () => checkFolder(service, check, complain);
  at("folder-go").addEventListener("click", go);
  at("folder-path").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); go(); } });
}

async function checkFolder(service, check, complain) {
  const path = at("folder-path").value.trim();
  if (!path) return complain("Name a folder first.", at("folder-path"));
  try {
    const { files, more } = await service.json(`/v1/folders/files?path=${encodeURIComponent(path)}`);
    if (!files.length) return complain(`There is no picture in “${path}”. Name another folder.`, at("folder-path"));
    complain(more ? `There are more than ${files.length} pictures; the first ${files.length} are checked.` : null);
    check(files);
  } catch (trouble) {
    complain(trouble.status === 403 ? `“${path}” is not an allowed folder. Choose one from the list.` : trouble.status === 404 ? `There is no folder “${path}”.` : trouble.message, at("folder-path"));
  }
}
