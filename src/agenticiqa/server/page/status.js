// Whether the service is there, in the corner of the page.
import { at } from "./dom.js";

const CALM = 15_000;
const ANXIOUS = 1_500;
const WORDS = { ready: "ready", starting: "starting", stopping: "stopping", gone: "not reachable, trying again" };

/** Looks again and again; sooner while the service is away. Calls nothing while the page is hidden. */
export function watchHealth(service, onBack) {
  let known = null;
  const look = async () => {
    if (document.hidden) return setTimeout(look, CALM);
    const status = await service.json("/v1/health").then((health) => health.status, () => "gone");
    if (status !== known) tell(status, known);
    if (status !== "gone" && known === "gone") onBack();
    known = status;
    setTimeout(look, status === "ready" ? CALM : ANXIOUS);
  };
  look();
}

function tell(status, before) {
  const health = at("health");
  health.dataset.status = status;
  health.lastElementChild.textContent = status === "ready" && before === "gone" ? "ready again" : WORDS[status] ?? status;
}
