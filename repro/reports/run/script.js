(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  document.documentElement.classList.add("scripted");

  /* Tables are sorted by a click, or by Enter, on a heading; what has no number stays at the end. */
  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, column) => {
      const numeric = head.classList.contains("number");
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      const valueOf = (row) => {
        const cell = row.cells[column];
        const text = cell.dataset.value ?? cell.textContent.trim();
        return numeric ? parseFloat(text) : text;
      };
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const down = now ? now === "ascending" : numeric;
        const order = (a, b) => {
          if (!numeric) return a.localeCompare(b) * (down ? -1 : 1);
          if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
          return (a - b) * (down ? -1 : 1);
        };
        const rows = [...body.rows].map((row) => [valueOf(row), row]).sort((a, b) => order(a[0], b[0]));
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        table.classList.add("sorted");
        body.append(...rows.map(([, row]) => row));
      });
    });
  };
  all("table.sortable").forEach(sortable);

  /* What the page carries is compressed. */
  const unpack = async (id) => {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  /* Charts: drawn again from their data when they come into sight, as wide as there is room. */
  let library;
  const vega = () => {
    library ??= unpack("vega").then((text) => {
      const script = document.createElement("script");
      script.textContent = text;
      document.head.append(script);
      return window.vegaEmbed;
    });
    return library;
  };
  const fitted = (spec, width) => {
    spec.width = width;
    if (width < 520) {
      const views = [spec, ...(spec.layer ?? [])];
      for (const { encoding = {} } of views) {
        for (const channel of Object.values(encoding)) {
          if (channel.legend) channel.legend.columns = 2;
        }
        if (encoding.y?.field !== "row") continue;
        /* A name is above its row, and not beside it. */
        const rows = encoding.y.scale.domain.length;
        const above = { labelAlign: "left", labelBaseline: "bottom", labelPadding: 0, labelOffset: -7 };
        encoding.y.axis = { ...encoding.y.axis, ...above, labelLimit: width, domain: false, ticks: false };
        spec.height = 34 * rows;
      }
    }
    return spec;
  };
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    ast: true /* expressions are interpreted: the page lets nothing be compiled */,
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  };
  const drawn = new Map();
  const draw = async (figure) => {
    const box = figure.querySelector(".chart");
    const width = Math.floor(box.clientWidth);
    if (!width || Math.abs((drawn.get(figure)?.width ?? 0) - width) < 16) return;
    const before = drawn.get(figure);
    const live = document.createElement("div");
    live.className = "live";
    live.setAttribute("aria-hidden", "true"); /* the box around it says what it shows */
    const state = { width, live };
    drawn.set(figure, state);
    try {
      const embed = await vega();
      const spec = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
      box.append(live);
      state.result = await embed(live, fitted(spec, width), options);
      box.classList.add("drawn");
      before?.result?.finalize();
      before?.live.remove();
    } catch (error) {
      live.remove(); /* the drawing that is there stays */
      console.error(error);
    }
  };
  const figures = all("figure").filter((figure) => figure.querySelector(".chart"));
  if (window.IntersectionObserver && window.DecompressionStream) {
    const seen = new IntersectionObserver(
      (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
      { rootMargin: "300px" },
    );
    figures.forEach((figure) => seen.observe(figure));
    let waiting;
    window.addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => [...drawn.keys()].forEach(draw), 150);
    });
  }

  /* The journal: rows whose line has all words that are asked for; a line opens to all of it. */
  const rows = [...byId("journal-table").tBodies[0].rows];
  let texts = rows.map((row) => row.textContent.toLowerCase());
  let whole;
  const lines = () => {
    whole ??= unpack("journal-lines").then((text) => {
      const found = text.trimEnd().split("\n");
      texts = found.map((line, at) => `${texts[at]} ${line.toLowerCase()}`);
      return found;
    });
    return whole;
  };
  const search = byId("search");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => {
      const hit = words.every((word) => texts[at].includes(word));
      row.hidden = !hit;
      if (row.nextElementSibling?.className === "opened") row.nextElementSibling.hidden = !hit;
      count += hit;
    });
    byId("found").textContent = words.length ? `${count} of ${rows.length} events` : "";
  };
  search.addEventListener("input", () => {
    filter();
    lines().then(filter, () => {});
  });
  rows.forEach((row, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.append(...row.cells[2].childNodes);
    row.cells[2].append(button);
    button.addEventListener("click", async () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      if (open) {
        row.nextElementSibling.remove();
        return;
      }
      const opened = document.createElement("tr");
      opened.className = "opened";
      const cell = opened.insertCell();
      cell.colSpan = 4;
      const text = document.createElement("pre");
      cell.append(text);
      row.after(opened);
      text.textContent = JSON.stringify(JSON.parse((await lines())[at]), null, 2);
    });
  });

  /* Copying: pages from files may not use the clipboard everywhere. */
  const copy = byId("copy");
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    const command = byId("replay").textContent;
    let done = true;
    try {
      await navigator.clipboard.writeText(command);
    } catch {
      const area = document.createElement("textarea");
      area.value = command;
      area.setAttribute("readonly", "");
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      copy.focus();
    }
    byId("copied").textContent = done ? "Copied." : "Select the command and copy it.";
  });

  /* On paper, everything is open. */
  const closed = new Set();
  const open = () =>
    all("details:not([open])").forEach((one) => {
      closed.add(one);
      one.open = true;
    });
  const restore = () => {
    closed.forEach((one) => (one.open = false));
    closed.clear();
  };
  window.addEventListener("beforeprint", open);
  window.addEventListener("afterprint", restore);
  window.matchMedia("print").addEventListener("change", (event) => (event.matches ? open() : restore()));
})();
