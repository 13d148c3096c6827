// Sends the forms of the page with the studio's own header, puts the answer in their place, and listens for news.
"use strict";

const HEADER = { "X-Indistinct-Studio": "1" };
let asked = 0; // the number of the newest request: older answers are not shown
let waiting = null; // the newest value of a slider that has not been sent yet
let sending = false;

const step = () => document.body.dataset.step;
const typing = () => {
  const own = document.activeElement;
  return own !== null && (own.matches("textarea, input:not([type=range]):not([type=radio]):not([type=checkbox])"));
};

/** Put the parts of another page in the place of ours; where somebody is typing or sliding, that form stays. */
function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const own = document.activeElement;
  const focused = own === null ? "" : own.id;
  const kept = own !== null && own.closest("main") !== null && (typing() || own.matches("input[type=range]")) && page.body.dataset.step === step();
  const open = [...document.querySelectorAll("main details")].map((one) => one.open);
  const alerted = document.querySelector("main [role=alert]") !== null;
  const [x, y] = [window.scrollX, window.scrollY];
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.getElementById(part.id);
    if (fresh === null || (part.id === "announce" && part.textContent === fresh.textContent)) continue;
    if (part.id === "announce") part.textContent = fresh.textContent;
    else if (part.id === "main" && kept) continue;
    else part.replaceWith(document.adoptNode(fresh));
  }
  const moved = page.body.dataset.step !== step();
  document.body.dataset.step = page.body.dataset.step;
  document.body.dataset.version = page.body.dataset.version;
  document.body.dataset.busy = page.body.dataset.busy;
  document.title = page.title;
  if (moved) {
    window.history.replaceState(null, "", `/${page.body.dataset.step}`);
    window.scrollTo(0, 0);
  } else {
    document.querySelectorAll("main details").forEach((one, at) => { if (open[at]) one.open = true; });
    window.scrollTo(x, y);
  }
  const alert = document.querySelector("main [role=alert]");
  if (alert !== null && !alerted) { // what went wrong comes into view, wherever the button stood
    alert.scrollIntoView({ block: "center" });
    const mend = alert.querySelector("button, a");
    if (mend !== null) mend.focus({ preventScroll: true });
    return;
  }
  const again = focused === "" ? null : document.getElementById(focused);
  if (again !== null && again !== document.activeElement && !again.disabled) again.focus({ preventScroll: true });
  else if (focused !== "" && again === null) document.getElementById("main").focus({ preventScroll: true });
}

async function post(form, submitter) {
  const content = new FormData(form, submitter || undefined);
  if (!content.has("step")) content.set("step", step());
  const number = ++asked;
  try {
    const answer = await fetch(form.action, { method: "POST", headers: HEADER, body: content });
    if (answer.status === 204) window.location.reload();
    else if (!answer.ok) away(true);
    else if (number === asked) show(await answer.text());
  } catch {
    away(true);
  }
}

/** Say that the server is not there, or not well. */
function away(is) {
  document.getElementById("away").hidden = !is;
}

async function fresh() {
  const number = ++asked;
  try {
    const answer = await fetch(`/${step()}`, { headers: HEADER });
    if (!answer.ok) away(true);
    else if (number === asked) show(await answer.text());
  } catch {
    away(true);
  }
}

/** Send the value of a slider; while one is on its way only the newest of those that follow is kept. */
async function slide() {
  if (sending) return;
  sending = true;
  while (waiting !== null) {
    const form = waiting;
    waiting = null;
    await post(form);
  }
  sending = false;
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  post(event.target, event.submitter);
});
document.addEventListener("input", (event) => {
  const own = event.target;
  if (!own.matches("[data-slide]")) return;
  const shown = own.form.querySelector("output");
  if (shown !== null) shown.value = own.value;
  waiting = own.form;
  slide();
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-auto]")) {
    if (event.target.matches("input[type=number]") && !event.target.reportValidity()) return;
    post(event.target.form);
  }
});
document.addEventListener("focusout", (event) => {
  // what was kept while somebody was sliding is drawn now
  if (event.target.matches && event.target.matches("[data-slide]")) window.setTimeout(fresh, 0);
});
document.addEventListener("keydown", (event) => {
  if (typing() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.activeElement !== null && document.activeElement.matches("select")) return;
  const link = document.querySelector(`#rail a[data-key="${event.key}"]`);
  if (/^[1-6]$/.test(event.key) && link !== null) window.location.assign(link.href);
});

const here = document.querySelector("#rail [aria-current]");
if (here !== null) here.scrollIntoView({ block: "nearest", inline: "center" });

const news = new EventSource("/events");
news.addEventListener("open", () => away(false));
news.addEventListener("error", () => away(true));
news.addEventListener("state", (event) => {
  if (String(JSON.parse(event.data).version) !== document.body.dataset.version) fresh();
});
news.addEventListener("progress", (event) => {
  const { share } = JSON.parse(event.data);
  const bar = document.getElementById("progress");
  if (bar === null) return;
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
});
window.addEventListener("pagehide", () => news.close());
