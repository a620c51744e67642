// The pages work without this. It counts times down, and shows what changes
// without loading a page again.
"use strict";
(() => {
  const base = document.body.dataset.base;
  const status = document.querySelector("[data-status]");

  // Times, counted from the moment the page came: this clock may be wrong.
  const came = performance.now();
  const since = (el) => Number(el.dataset.came || came);
  const tick = () => {
    for (const el of document.querySelectorAll("[data-left]")) {
      const left = Math.max(0, Math.round(Number(el.dataset.left) - (performance.now() - since(el)) / 1000));
      const text = left ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} min` : "no time";
      if (el.textContent !== text) el.textContent = text;
      el.classList.toggle("soon", left < 60);
    }
  };
  tick();
  setInterval(tick, 1000);

  // One decision is sent once.
  const form = document.querySelector("[data-decision]");
  let sent = false;
  form?.addEventListener("submit", (e) => {
    if (sent) e.preventDefault();
    sent = true;
  });
  addEventListener("pageshow", () => { sent = false; });

  if (!("live" in document.body.dataset)) return;

  const list = document.querySelector("[data-waiting]");
  const mine = document.querySelector("[data-request]")?.dataset.request;
  const count = document.querySelector("[data-count]");
  let known = null;

  const refresh = async (announce) => {
    const answer = await fetch(base + "/waiting", { credentials: "same-origin", redirect: "error" });
    if (!answer.ok) return;
    const inside = list.contains(document.activeElement);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").body;
    for (const el of fresh.querySelectorAll("[data-left]")) el.dataset.came = performance.now();
    // What still waits stays as it is, under the pointer and in focus.
    const ul = list.querySelector("ul.requests");
    const next = fresh.querySelector("ul.requests");
    if (ul && next) {
      const old = new Map([...ul.children].map((li) => [li.dataset.id, li]));
      const want = [...next.children].map((li) => old.get(li.dataset.id) || li);
      for (const li of [...ul.children]) if (!want.includes(li)) li.remove();
      want.forEach((li, i) => { if (ul.children[i] !== li) ul.insertBefore(li, ul.children[i] || null); });
      for (const el of [...list.children]) if (el !== ul) el.remove();
      for (const el of [...fresh.children]) if (el !== next) list.append(el);
    } else {
      list.replaceChildren(...fresh.childNodes);
    }
    tick();
    if (inside && !list.contains(document.activeElement)) document.getElementById("main").focus();
    if (announce) status.textContent = announce;
  };

  const source = new EventSource(base + "/events");
  source.addEventListener("waiting", (e) => {
    const ids = JSON.parse(e.data).ids || [];
    const more = known && ids.some((id) => !known.includes(id));
    const changed = known === null || ids.join() !== known.join();
    known = ids;
    count.textContent = ids.length;
    count.hidden = ids.length === 0;
    document.title = document.title.replace(/^\(\d+\) /, "");
    if (ids.length) document.title = `(${ids.length}) ${document.title}`;
    if (list && changed) refresh(more ? "Something new waits for you." : "").catch(() => {});
    if (mine && !ids.includes(mine)) {
      document.querySelector("[data-gone]").hidden = false;
      for (const b of form?.querySelectorAll("button") || []) b.disabled = true;
    }
    if (!list && more) status.textContent = "Something new waits for you.";
  });
  source.addEventListener("over", () => {
    source.close();
    status.textContent = "Your session has ended. Sign in again to decide.";
  });
})();
