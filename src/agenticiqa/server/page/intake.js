// Images come in by choosing, dropping or pasting, and are judged at once; two or more make a comparison.
import { announce, at, button, icon, make, pause, showPicture } from "./dom.js";
import { keepFiles, recallFiles } from "./kept_files.js";
import { thumbnailOf } from "./thumbnails.js";

const MOST = 1000;
const SHOWN = 3;
const AT_A_TIME = 25;
const PICTURES = /\.(jpe?g|png|webp|avif|heic|heif|tiff?|bmp|gif|jp2|ppm|pgm|ico)$/i;

/** The images and the reference chosen so far; `onChange` hears of every change, `onArrive` when there is something new to judge. */
export class Intake {
  constructor(onChange, onRefusal, onArrive) {
    Object.assign(this, { images: [], reference: null, used: false, limits: {}, onChange, onRefusal, onArrive });
    at("choose").addEventListener("change", (event) => this.#chosen(event.target, (files) => this.add(files)));
    at("choose-reference").addEventListener("change", (event) => this.#chosen(event.target, ([file]) => this.setReference(file)));
    document.addEventListener("paste", (event) => this.#pasted(event));
    this.#listenToDrops();
    this.#show();
    this.#restore();
  }

  /** Notes that the selection has been sent: new files begin a new one. */
  markUsed() {
    this.used = true;
    keepFiles(this);
  }

  // A reload keeps the form; whoever has chosen something meanwhile is not overruled.
  async #restore() {
    const found = await recallFiles();
    if (!found || this.images.length || this.reference || !(found.files.length || found.reference)) return;
    this.images = found.files.map(kept);
    this.reference = found.reference ? kept(found.reference) : null;
    this.used = found.used;
    this.#show();
  }

  /** Takes files in and has them judged; after a run new files begin a new selection, unless they are `more` of it. */
  async add(files, more = false) {
    const [wanted, refusals] = [[], []];
    for (const [place, file] of [...files].entries()) {
      if (place && place % AT_A_TIME === 0) await pause();
      const image = kept(file);
      const refusal = this.#refusalOf(image);
      if (refusal) refusals.push(refusal);
      else wanted.push(image);
    }
    if (wanted.length) {
      if (this.used && !more) this.images = [];
      this.used = false;
      if (this.images.length + wanted.length > MOST) refusals.push(`At most ${MOST} images can be checked at once; the rest was left out.`);
      this.images = [...this.images, ...wanted].slice(0, MOST);
      this.#show(`${this.images.length} ${this.images.length === 1 ? "image" : "images"} chosen.`);
      this.onArrive();
    }
    if (refusals.length) this.onRefusal(refusals.length > 1 ? `${refusals[0]} ${refusals.length - 1} more were left out.` : refusals[0]);
  }

  /** Lets one choose images to judge beside those already chosen. */
  askForMore() {
    const input = make("input", { type: "file", multiple: true, accept: at("choose").accept, onchange: () => this.add(input.files, true) });
    input.click();
  }

  /** The reference all images are measured against, or null. */
  setReference(file) {
    const chosen = file ? kept(file) : null;
    const refusal = chosen && this.#refusalOf(chosen);
    if (refusal) return this.onRefusal(refusal);
    this.reference = chosen;
    this.#show(file ? "Reference chosen." : "Reference removed.");
  }

  /** Exactly these, as an example has them. */
  replace(image, reference) {
    this.images = [kept(image)];
    this.reference = reference ? kept(reference) : null;
    this.used = false;
    this.#show();
    keepFiles(this);
  }

  #refusalOf({ file, size }) {
    const most = this.limits.max_request_bytes;
    if (!file.type.startsWith("image/") && !PICTURES.test(file.name)) return `“${file.name}” is no image file. Choose a picture.`;
    if (!size) return `“${file.name}” is empty. Choose another file.`;
    if (most && size > most) return `“${file.name}” is larger than ${Math.floor(most / 1e6)} MB. Choose a smaller file.`;
    return null;
  }

  #chosen(input, take) {
    const files = [...input.files];
    input.value = "";
    if (files.length) take(files);
  }

  #pasted(event) {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    this.add(files);
  }

  #listenToDrops() {
    let depth = 0;
    const mark = (on) => document.body.classList.toggle("dropping", on);
    const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
    document.addEventListener("dragenter", (event) => { if (holdsFiles(event)) { depth += 1; mark(true); } });
    document.addEventListener("dragleave", (event) => { if (holdsFiles(event)) mark((depth = Math.max(0, depth - 1)) > 0); });
    document.addEventListener("dragover", (event) => { if (holdsFiles(event)) event.preventDefault(); });
    document.addEventListener("drop", (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      mark(depth = 0);
      const files = [...event.dataTransfer.files].filter((file) => file.size || file.type);
      if (event.target.closest?.("#reference-slot")) this.setReference(files[0]);
      else this.add(files);
    });
  }

  #remove(image) {
    this.images = this.images.filter((other) => other !== image);
    this.#show(`${image.file.name} removed.`);
    at("choose").focus();
  }

  #show(words) {
    const more = this.images.length - SHOWN;
    at("tray").replaceChildren(...this.images.slice(0, SHOWN).map((image) => thumb(image, () => this.#remove(image))),
      ...(more > 0 ? [make("li", { class: "soft small" }, `+ ${more} more`)] : []));
    const chosen = this.reference ? [thumb(this.reference, () => { this.setReference(null); at("choose-reference").focus(); })] : [];
    at("reference-tray").replaceChildren(...chosen);
    at("reference-slot").classList.toggle("filled", Boolean(this.reference));
    if (words) {
      announce(words);
      keepFiles(this);
    }
    this.onChange(this);
  }
}

// The browser asks the disk at every question about a size, so it is asked once. The address is made when the picture is
// shown: hundreds are chosen and few are.
function kept(file) {
  let url = null;
  return { file, size: file.size, get url() { return (url ??= URL.createObjectURL(file)); } };
}

function thumb(image, remove) {
  const picture = make("img", { alt: "" });
  image.small ??= thumbnailOf(image.file, 88);
  image.small.then((blob) => { if (blob) showPicture(picture, URL.createObjectURL(blob)); else picture.replaceWith(icon("image")); });
  return make("li", { class: "thumb" }, picture, make("span", { title: image.file.name }, image.file.name),
    button(icon("close"), remove, { class: "quiet round", "aria-label": `Remove ${image.file.name}` }));
}
