"use strict";
(() => {
  // Rows of tables: sorted by a column, filtered by words.
  const number = cell => {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    return /^[-+]?\.?\d/.test(text) ? parseFloat(text) : NaN;
  };
  const compare = (rows, column) => {
    const filled = rows.filter(row => !["", "-"].includes(row.cells[column].textContent.trim()));
    const numeric = filled.filter(row => !isNaN(number(row.cells[column]))).length * 2 > filled.length;
    const text = row => row.cells[column].textContent.trim();
    if (!numeric) return (a, b, sign) => sign * text(a).localeCompare(text(b), "en", { numeric: true });
    return (a, b, sign) => {
      const [x, y] = [number(a.cells[column]), number(b.cells[column])];
      // What is no number stands at the end, whichever way.
      return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
    };
  };
  const sortable = (table, rows) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        const order = next === undefined ? "ascending" : next;
        heads.forEach(other => other.removeAttribute("aria-sort"));
        let sorted = rows;
        if (order) {
          head.setAttribute("aria-sort", order);
          const by = compare(rows, column), sign = order === "ascending" ? 1 : -1;
          sorted = [...rows].sort((a, b) => by(a, b, sign));
        }
        table.tBodies[0].append(...sorted);
      });
    });
  };
  const filterable = (table, rows) => {
    const label = document.createElement("label");
    label.className = "filter";
    const input = document.createElement("input"), shown = document.createElement("output");
    input.type = "search";
    input.placeholder = "jsa linear";
    label.append("Rows with ", input, shown);
    table.parentElement.before(label);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(word => word);
      let count = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every(word => text.includes(word));
        count += !row.hidden;
      }
      shown.textContent = words.length ? `${count} of ${rows.length}` : "";
    });
  };
  for (const table of document.querySelectorAll("table")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length > 1) sortable(table, rows);
    if (rows.length > 5) filterable(table, rows);
  }

  // Curves: hidden by their entry in the legend, in all figures of the section; kept over a reload, as far as the browser allows.
  const hidden = (() => {
    try { return new Set(JSON.parse(sessionStorage.getItem("hidden") || "[]")); } catch { return new Set(); }
  })();
  const key = entry => entry.closest("section").id + " " + entry.dataset.name;
  const showAll = section => {
    for (const part of section.querySelectorAll(".series, .entry")) {
      const off = hidden.has(key(part));
      part.classList.toggle("off", off);
      if (part.matches(".entry")) part.setAttribute("aria-pressed", String(!off));
    }
  };
  for (const entry of document.querySelectorAll(".entry")) {
    entry.setAttribute("role", "button");
    entry.setAttribute("tabindex", "0");
    entry.setAttribute("aria-label", "Show " + entry.dataset.name);
    const toggle = () => {
      if (!hidden.delete(key(entry))) hidden.add(key(entry));
      try { sessionStorage.setItem("hidden", JSON.stringify([...hidden])); } catch { /* not from this place */ }
      showAll(entry.closest("section"));
    };
    entry.addEventListener("click", toggle);
    entry.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
  }
  document.querySelectorAll("section").forEach(showAll);

  // The numbers of the point under the pointer.
  const tip = document.createElement("div");
  tip.className = "tip";
  document.body.append(tip);
  const axis = text => {
    const [low, high, log] = text.split(" "), to = log ? Math.log : value => value;
    return value => (to(value) - to(low)) / (to(high) - to(low));
  };
  const panelOf = group => {
    const [left, top, width, height] = group.dataset.box.split(" ").map(Number);
    const [x, y] = [axis(group.dataset.x), axis(group.dataset.y)];
    const series = [...group.querySelectorAll(".series")].map(part => ({
      part,
      points: part.dataset.points.split(" ").filter(text => text).map(text => {
        const [a, b] = text.split(",").map(Number);
        return { a, b, x: left + x(a) * width, y: top + (1 - y(b)) * height };
      }),
    }));
    return { group, left, top, width, height, series };
  };
  const NEAR = 24;
  const nearest = (panels, at) => {
    let best = null;
    for (const panel of panels) {
      const inside = at.x >= panel.left && at.x <= panel.left + panel.width && at.y >= panel.top && at.y <= panel.top + panel.height;
      if (!inside) continue;
      for (const { part, points } of panel.series) {
        if (part.classList.contains("off")) continue;
        for (const point of points) {
          const distance = Math.hypot(point.x - at.x, point.y - at.y);
          if (distance < (best ? best.distance : NEAR)) best = { distance, point, part, panel };
        }
      }
    }
    return best;
  };
  for (const svg of document.querySelectorAll("figure svg")) {
    let panels = null, spot = null;
    const leave = () => { tip.textContent = ""; if (spot) spot.remove(); };
    const move = event => {
      panels = panels || [...svg.querySelectorAll(".panel")].map(panelOf);
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const found = nearest(panels, at);
      if (!found) return leave();
      const { point, part, panel } = found;
      tip.textContent = `${part.dataset.name}\n${panel.group.dataset.ylabel}: ${point.b}\n${panel.group.dataset.xlabel}: ${point.a}`;
      const { width, height } = tip.getBoundingClientRect();
      tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 4)) + "px";
      tip.style.top = Math.max(4, Math.min(event.clientY + 12, innerHeight - height - 4)) + "px";
      if (!spot) {
        spot = document.createElementNS(svg.namespaceURI, "circle");
        spot.setAttribute("class", "spot");
        spot.setAttribute("r", "5");
      }
      spot.setAttribute("cx", point.x);
      spot.setAttribute("cy", point.y);
      svg.append(spot);
    };
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointerleave", leave);
  }

  // What is folded is opened by a link into it, and on paper.
  const open = place => {
    for (let part = place; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  };
  for (const link of document.querySelectorAll("a[href^='#']")) {
    link.addEventListener("click", () => open(document.getElementById(decodeURIComponent(link.hash.slice(1)))));
  }
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach(part => { part.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach(part => { part.open = false; }));
})();
