// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
"use strict";
// Everything is on the page without this: it only adds switches, a readout, and samples on demand.

function wire(figure) {
  const plot = figure.querySelector(".plot");
  const readout = figure.querySelector(".readout");
  const switches = figure.querySelector(".switches");
  if (switches) {
    switches.hidden = false;
    switches.addEventListener("change", (event) => {
      const parts = plot.querySelectorAll(`[data-series="${event.target.value}"]`);
      parts.forEach((part) => part.classList.toggle("off", !event.target.checked));
    });
  }
  if (!readout) return;
  readout.hidden = false;
  let here = null;
  const dots = () => [...plot.querySelectorAll(".series:not(.off) .dot")];
  const show = (dot) => {
    if (dot === here) return;
    if (here) here.classList.remove("here");
    here = dot;
    here.classList.add("here");
    readout.textContent = here.querySelector("title").textContent;
  };
  plot.addEventListener("pointermove", (event) => {
    let best = null, least = 40 * 40;
    for (const dot of dots()) {
      const box = dot.getBoundingClientRect();
      const x = box.x + box.width / 2 - event.clientX, y = box.y + box.height / 2 - event.clientY;
      if (x * x + y * y < least) { least = x * x + y * y; best = dot; }
    }
    if (best) show(best);
  });
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = dots();
    if (!step || !all.length) return;
    event.preventDefault();
    const at = all.indexOf(here);
    show(all[at < 0 ? 0 : (at + step + all.length) % all.length]);
  });
}

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function choose(select) {
  const target = document.getElementById("cell");
  let cells = null;
  const show = async () => {
    cells = cells || await unpacked("cells");
    target.querySelector(".plot").innerHTML = cells[select.value].svg;
    target.querySelector("figcaption").textContent = cells[select.value].words;
  };
  document.getElementById("choose").hidden = false;
  select.addEventListener("change", show);
}

document.querySelectorAll("figure").forEach(wire);
document.querySelectorAll("#choose select").forEach(choose);
addEventListener("beforeprint", () => document.querySelectorAll("details.print").forEach((d) => { d.open = true; }));
