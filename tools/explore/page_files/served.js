"use strict";
// Asks the server for the version of the page, and reloads it when the model has changed.

const POLL = 1000;
let shownVersion = null;

function showNotice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

async function poll() {
  try {
    const { version, failure } = await (await fetch("/version")).json();
    showNotice(failure);
    shownVersion ??= version;
    if (version !== shownVersion) location.reload();
  } catch {
    showNotice("The server has ended.");
  }
  setTimeout(poll, POLL);
}

poll();
