// What the page calls things, and what it says when something goes wrong.

export const LEVELS = { 1: ["E", "Bad"], 2: ["D", "Poor"], 3: ["C", "Fair"], 4: ["B", "Good"], 5: ["A", "Excellent"] };
export const LEVEL_NAMES = Object.fromEntries(Object.values(LEVELS));
export const SEVERITIES = ["none", "slight", "moderate", "severe", "extreme"];

/** What one decides about a picture; the first letter is its key. */
export const DECISIONS = { keep: "Keep", maybe: "Maybe", reject: "Reject" };

export const QUESTIONS = [
  "Rate the perceptual quality of this image.",
  "What's wrong with this photo?",
  "Is it blurry?",
  "Which is worse? A. Noise B. Blur C. Compression D. None",
  "Where is the quality lowest?",
  "这张照片清晰吗？",
];

export const STEPS = { planner: "Planner", executor: "Executor", summarizer: "Summarizer" };
export const SUBTASKS = {
  inspection: "Look for distortions, severity and tools at once",
  distortion_detection: "Detect distortions",
  distortion_analysis: "Judge their severity",
  tool_selection: "Choose tools",
  location: "Locate the object",
  tool_execution: "Measure with tools",
};
/** The same steps while one waits for them. */
export const DOING = {
  planner: "Reading the question", executor: "Looking at the picture", summarizer: "Putting the answer together",
  inspection: "Looking for flaws", distortion_detection: "Looking for flaws", distortion_analysis: "Judging how strong they are",
  tool_selection: "Choosing what to measure", location: "Finding what the question is about", tool_execution: "Measuring",
};

/** The seven distortion categories as people say them. */
export const KINDS = {
  Blurs: "Blur", Noise: "Noise", Compression: "Compression", Contrast: "Contrast change", Sharpness: "Sharpness problem",
  "Brightness change": "Brightness change", "Color distortions": "Color distortion",
};
/** A distortion category, or the reserved one for the picture as a whole, as people say it. */
export const kindName = (kind) => (kind === "Overall" ? "Overall quality" : KINDS[kind] ?? kind);
/** The object a finding belongs to; the whole image needs no name. */
export const placeName = (name) => (name && name !== "Global" ? name : null);

/** A failed answer of the service as one sentence a person can act on. */
export function sentenceFor(status, problem = {}) {
  const said = typeof problem.detail === "string" && problem.detail.trim();
  if (status === 401 || status === 403) return "The service asks for its access token. Enter it and try again.";
  if (status === 413) return said || "This file is larger than the service accepts. Choose a smaller one.";
  if (status === 404) return "The service no longer has this run. Assess the image again.";
  if (said) return said;
  if (status >= 500) return `The service failed (${status}). Try again; if it happens again, look at its log.`;
  return problem.title || `The service refused the request (${status}). Check the image and the question.`;
}

/** What a visitor can do about a question that was not answered. */
export const REMEDY = "Questions here are about how good a picture is, not about what it shows. Ask, for example, “Is it sharp?” or “What is wrong with it?”.";

export const BROKEN_OFF = "The service broke off the upload. The file may be too large or the connection too slow; try a smaller file.";
export const GONE = "The service cannot be reached. Check that “agenticiqa serve” is running; this page keeps trying.";

/** Names as a list in a sentence. */
export const listed = (names, word = "and") => (names.length > 1 ? `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}` : names.join());
