// Grids of numbers as smooth pictures, and the boxes that lie over them.
import { make } from "./dom.js";

const COLOURS = [[1, [178, 24, 43]], [3, [247, 247, 247]], [5, [33, 102, 172]]];
const WIDTH = 192;

/** A grid as a canvas: values are interpolated, not colours. */
export function painted({ grid, rows, columns, width = columns, height = rows, name }) {
  const colour = name === "quality" ? colourOf : heatOf;
  const canvas = make("canvas", { class: "map", width: WIDTH, height: Math.max(1, Math.round((WIDTH * height) / width)), "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  const picture = pen.createImageData(canvas.width, canvas.height);
  for (let y = 0; y < canvas.height; y += 1) {
    for (let x = 0; x < canvas.width; x += 1) {
      const value = between(grid, ((y + 0.5) / canvas.height) * rows - 0.5, ((x + 0.5) / canvas.width) * columns - 0.5, rows, columns);
      picture.data.set(colour(value), 4 * (y * canvas.width + x));
    }
  }
  pen.putImageData(picture, 0, 0);
  return canvas;
}

/** A named box over a picture of this width and height. */
export function framed(region, { width, height }, name) {
  const box = make("div", { class: "box" }, make("span", {}, name));
  Object.assign(box.style, {
    left: `${(region.left / width) * 100}%`, top: `${(region.top / height) * 100}%`,
    width: `${((region.right - region.left) / width) * 100}%`, height: `${((region.bottom - region.top) / height) * 100}%`,
  });
  return box;
}

function between(grid, row, column, rows, columns) {
  const clamp = (value, most) => Math.min(most - 1, Math.max(0, value));
  const [top, left] = [Math.floor(row), Math.floor(column)];
  const [down, right] = [row - top, column - left];
  const cell = (y, x) => grid[clamp(y, rows)][clamp(x, columns)];
  const upper = cell(top, left) * (1 - right) + cell(top, left + 1) * right;
  const lower = cell(top + 1, left) * (1 - right) + cell(top + 1, left + 1) * right;
  return upper * (1 - down) + lower * down;
}

function colourOf(value) {
  const [[low, from], [high, to]] = value < 3 ? COLOURS.slice(0, 2) : COLOURS.slice(1);
  const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
  return [...from.map((part, index) => Math.round(part + share * (to[index] - part))), 255];
}

// Clear where there is nothing, so that the picture shows through; strong orange where the flaw is.
function heatOf(value) {
  return [255, Math.round(190 - 130 * value), 0, Math.round(255 * Math.min(1, value * 1.6))];
}
