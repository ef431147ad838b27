// Loaded before the page is painted, so that the chosen theme never flashes.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("agenticiqa.theme"); } catch { /* storage may be forbidden */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
