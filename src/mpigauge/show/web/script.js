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
  const ranges = plot ? plot.querySelectorAll(".ranges") : [];
  if (ranges.length && figure.querySelector(".ranged")) {
    const box = figure.querySelector(".ranged input");
    box.checked = ranges[0].getAttribute("display") !== "none";
    figure.querySelector(".ranged").hidden = false;
    box.addEventListener("change", () => ranges.forEach((part) => part.setAttribute("display", box.checked ? "inline" : "none")));
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

// Very many curves: found by words of their names, drawn into their panel, told as a table.
function find(all) {
  const box = all.querySelector(".find"), words = box.querySelector("input"), list = box.querySelector("select");
  const said = box.querySelector(".found"), table = box.querySelector("table"), most = 200;
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("class", "one"); line.setAttribute("fill", "none");
  let data = null, names = [];
  box.hidden = false;
  const look = async () => {
    if (!data) { data = await unpacked("curves-packed"); names = data.curves.map((c) => c[0].toLowerCase()); }
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean), options = [];
    let many = 0;
    names.forEach((name, at) => {
      if (!wanted.every((word) => name.includes(word))) return;
      if (many < most) options.push(new Option(data.curves[at][0], at));
      many += 1;
    });
    list.replaceChildren(...options);
    said.textContent = `${many} of ${names.length} curves` + (many > most ? `, the first ${most} are listed` : "");
  };
  const show = () => {
    const [name, panel, sizes, times, errors] = data.curves[list.value];
    const { x, y } = data.panels[panel], bytes = data.sizes[sizes];
    const points = bytes.map((n, i) => [x[n], y[0] + y[1] * Math.log(times[i])]).filter((p) => p[0] !== undefined);
    line.setAttribute("points", points.map((p) => p.map((v) => v.toFixed(1)).join()).join(" "));
    all.querySelectorAll("svg .panel")[panel].append(line);
    table.caption.textContent = name;
    table.tBodies[0].replaceChildren(...bytes.map((n, i) => {
      const row = document.createElement("tr");
      for (const word of [n < 0 ? "" : n, times[i], errors[i] ?? ""]) row.insertCell().textContent = word;
      return row;
    }));
  };
  words.addEventListener("focus", look, { once: true });
  words.addEventListener("input", look);
  list.addEventListener("focus", () => { if (!data) look(); });
  list.addEventListener("change", show);
}

// A table whose heads sort it, and whose lines are found by words.
function sortable(box) {
  const table = box.querySelector("table"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const words = (row) => [...row.cells].map((cell) => cell.title || cell.textContent).join(" ");
  const value = (row, at) => { const text = row.cells[at].dataset.value, n = Number(text); return text === "" || Number.isNaN(n) ? text : n; };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button"; button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => {
        const x = value(a, at), y = value(b, at);
        return (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y))) * (down ? -1 : 1);
      });
      body.replaceChildren(...rows);
    });
  });
  const field = box.querySelector("input"), found = box.querySelector(".found");
  box.querySelector(".choose").hidden = false;
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let many = 0;
    for (const row of body.rows) {
      row.hidden = !wanted.every((word) => words(row).toLowerCase().includes(word));
      many += row.hidden ? 0 : 1;
    }
    found.textContent = wanted.length ? `${many} of ${body.rows.length} lines` : "";
  });
}

async function zoom(box) {
  const view = box.querySelector(".zoomed");
  if (!view || !window.DecompressionStream) return;
  const data = await unpacked("calls-packed"), canvas = view.querySelector("canvas"), pen = canvas.getContext("2d");
  const readout = view.querySelector(".readout"), span = view.querySelector(".found");
  const left = 90, row = 18, gap = 4, high = data.rows.length * (row + gap) + 22;
  const figure = box.querySelector("figure .plot");
  let from = 0, to = data.end, dragged = null;
  const time = (s) => Math.abs(s) >= 1 ? `${s.toPrecision(4)} s` : Math.abs(s) >= 1e-3 ? `${(s * 1e3).toPrecision(4)} ms` : `${(s * 1e6).toPrecision(4)} µs`;
  const wide = () => canvas.clientWidth - left - 8;
  const x = (s) => left + (s - from) / (to - from) * wide();
  const at = (event) => from + (event.clientX - canvas.getBoundingClientRect().left - left) / wide() * (to - from);
  function draw() {
    const ratio = window.devicePixelRatio || 1, style = getComputedStyle(figure), part = (n) => style.getPropertyValue(`--c${n}`) || ["#0072b2", "#d55e00", "#009e73"][n];
    canvas.style.height = `${high}px`;
    canvas.width = canvas.clientWidth * ratio; canvas.height = high * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = "11px sans-serif";
    const ink = getComputedStyle(canvas).color, steps = data.mpi[0].length, step = data.end / steps;
    data.rows.forEach((name, n) => {
      const y = n * (row + gap);
      pen.fillStyle = ink; pen.textAlign = "right"; pen.fillText(name, left - 8, y + row - 4);
      pen.fillStyle = part(0); pen.fillRect(left, y, wide(), row);
      for (let k = Math.max(0, Math.floor(from / step)); k < steps && k * step < to; k++) {
        const a = Math.max(x(k * step), left), b = Math.min(x((k + 1) * step), left + wide());
        for (const [number, shares] of [[1, data.mpi], [2, data.waiting]]) {
          const tall = row * shares[n][k];
          if (!data.recorded || to - from > data.end / 4) { pen.fillStyle = part(number); pen.fillRect(a, y + row - tall, b - a, tall); }
        }
      }
    });
    if (to - from <= data.end / 4) for (let k = 0; k < data.at.length; k++) {
      if (data.at[k] > to || data.at[k] + data.took[k] < from) continue;
      const y = data.row[k] * (row + gap), a = Math.max(x(data.at[k]), left), wait = Math.max(x(data.at[k] + data.wait[k]), a);
      const end = Math.max(Math.min(x(data.at[k] + data.took[k]), left + wide()), a + 0.5);
      pen.fillStyle = part(1); pen.fillRect(a, y, end - a, row);
      pen.fillStyle = part(2); pen.fillRect(a, y, Math.min(wait, end) - a, row);
    }
    pen.fillStyle = ink;
    for (let k = 0; k <= 4; k++) {
      pen.textAlign = k ? k === 4 ? "right" : "center" : "left";
      pen.fillText(time(from + (to - from) * k / 4), left + wide() * k / 4, high - 6);
    }
    span.textContent = `${time(from)} to ${time(to)}`;
  }
  function set(a, b) {
    const long = Math.min(Math.max(b - a, data.end * 1e-7), data.end);
    from = Math.min(Math.max(a, 0), data.end - long); to = from + long;
    draw();
  }
  const moves = { in: [0.25, 0.75], out: [-0.5, 1.5], left: [-0.5, 0.5], right: [0.5, 1.5] };
  view.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
    const [a, b] = moves[button.value] || [0, 0], long = to - from;
    button.value === "all" ? set(0, data.end) : set(from + a * long, from + b * long);
  }));
  canvas.addEventListener("keydown", (event) => {
    const name = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "-": "out" }[event.key];
    if (name) { event.preventDefault(); view.querySelector(`[value=${name}]`).click(); }
  });
  canvas.addEventListener("pointerdown", (event) => { dragged = at(event); canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", (event) => {
    const end = at(event), begun = dragged;
    dragged = null;
    if (begun !== null && Math.abs(end - begun) > (to - from) / 200) set(Math.min(begun, end), Math.max(begun, end));
  });
  canvas.addEventListener("dblclick", () => set(0, data.end));
  canvas.addEventListener("pointermove", (event) => {
    const s = at(event), n = Math.floor((event.clientY - canvas.getBoundingClientRect().top) / (row + gap));
    let text = data.rows[n] ? `${data.rows[n]}, ${time(s)}` : "";
    if (dragged !== null) text = `${time(Math.min(dragged, s))} to ${time(Math.max(dragged, s))}`;
    else for (let k = 0; k < data.at.length && data.at[k] <= s; k++) if (data.row[k] === n && s <= data.at[k] + data.took[k]) {
      text = `rank ${data.rank[k]}, ${time(data.at[k])}: ${data.names[data.site[k]]}, ${time(data.took[k])}, of it waiting ${time(data.wait[k])}`;
    }
    readout.textContent = text;
  });
  view.hidden = false;
  for (const [on, event] of [[window, "resize"], [view, "toggle"]]) on.addEventListener(event, () => view.open && draw());
}

document.querySelectorAll("figure").forEach(wire);
document.querySelectorAll(".zooming").forEach(zoom);
document.querySelectorAll(".sorting").forEach(sortable);
document.querySelectorAll("#one-of-all").forEach(find);
document.querySelectorAll("#choose select").forEach(choose);
addEventListener("beforeprint", () => document.querySelectorAll("details.print").forEach((d) => { d.open = true; }));
