// Small copies of chosen pictures, made one after the other: two hundred photographs must not fill the memory.

let last = Promise.resolve();

/** A small copy as a blob, this many pixels wide; null for a format the browser cannot show. */
export function thumbnailOf(file, width) {
  last = last.then(() => shrunk(file, width));
  return last;
}

async function shrunk(file, width) {
  try {
    const picture = await createImageBitmap(file, { resizeWidth: width, resizeQuality: "medium" });
    const canvas = new OffscreenCanvas(picture.width, Math.min(picture.height, 8 * width));
    canvas.getContext("2d").drawImage(picture, 0, 0);
    picture.close();
    return await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 });
  } catch {
    return null;
  }
}
