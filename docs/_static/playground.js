// The playground: shows designs that were computed when the site was built. Nothing is designed or sent here.
"use strict";

(() => {
  const { choices, designs } = window.MECHDESIGN_PLAYGROUND;
  const root = document.getElementById("playground-designs");
  const names = { counts: "Counts", epsilon: "epsilon", delta: "delta", objective: "Objective" };
  const chosen = {};
  let report = 0;

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // Bounds are rounded up, so that what the page says stays true.
  const above = (number, digits) => (Math.ceil(number * 10 ** digits) / 10 ** digits).toFixed(digits);
  const percent = (share) => (share === 0 ? "0" : share < 5e-5 ? "<0.01" : (100 * share).toFixed(share < 0.1 ? 2 : 1));
  const count = (number) => (number === null ? "no number is enough" : number.toLocaleString("en"));

  function table(caption, heads, rows) {
    const made = element("table", undefined, { class: "table" });
    made.append(element("caption", caption));
    const head = made.createTHead().insertRow();
    for (const text of heads) head.append(element("th", text, { scope: "col" }));
    const body = made.createTBody();
    for (const cells of rows) {
      const row = body.insertRow();
      cells.forEach((text, place) => row.append(place ? element("td", text) : element("th", text, { scope: "row" })));
    }
    const scrolled = element("div", undefined, { class: "scrolled", tabindex: "0", role: "region", "aria-label": caption });
    scrolled.append(made);
    return scrolled;
  }

  function controls() {
    const form = element("form");
    for (const [key, values] of Object.entries(choices)) {
      const label = element("label", names[key] + " ");
      const select = element("select", undefined, { name: key });
      for (const value of values) select.append(element("option", value, { value }));
      select.value = chosen[key] = values[key === "epsilon" || key === "counts" ? 1 : 0] ?? values[0];
      select.addEventListener("change", () => {
        chosen[key] = select.value;
        report = 0;
        show();
      });
      label.append(select);
      form.append(label);
    }
    return form;
  }

  function picture(design) {
    const order = design.outputs.map((_, place) => place);
    const made = table(
      "The mechanism: how often a category (row) gives each report (column), in percent. Choose a report.",
      ["category", ...order.map((place) => String(place + 1))],
      design.categories.map((category, row) => [category, ...design.matrix[row].map(percent)]),
    );
    made.querySelectorAll("tbody tr").forEach((line, row) =>
      line.querySelectorAll("td").forEach((cell, place) => {
        cell.style.background = `color-mix(in srgb, #2a7ab9 ${Math.round(75 * design.matrix[row][place])}%, transparent)`;
      }),
    );
    made.querySelectorAll("thead th").forEach((head, place) => {
      if (place === 0) return;
      const button = element("button", head.textContent, { type: "button", "aria-pressed": String(place - 1 === report) });
      button.setAttribute("aria-label", `report ${place}`);
      button.addEventListener("click", () => {
        report = place - 1;
        show();
        root.querySelector(`[aria-label="report ${place}"]`).focus();
      });
      head.replaceChildren(button);
    });
    return made;
  }

  function guesses(design) {
    const mean = design.shares.reduce((sum, share, row) => sum + share * design.matrix[row][report], 0);
    const rows = design.categories.map((category, row) => {
      const factor = mean > 0 ? design.matrix[row][report] / mean : 1;
      return [category, percent(design.shares[row]), percent(design.shares[row] * factor), factor.toFixed(2)];
    });
    return table(
      `What report ${report + 1} tells who knows the shares of the counts; ${percent(mean)} % of all reports are this one.`,
      ["category", "before, %", "after, %", "times as likely"],
      rows,
    );
  }

  function download(design) {
    const link = element("a", "Download the mechanism file", { download: "mechanism.json" });
    link.href = URL.createObjectURL(new Blob([design.file], { type: "application/json" }));
    return link;
  }

  function show() {
    const design = designs[Object.keys(choices).map((key) => chosen[key]).join("|")];
    const bound = above(Math.exp(Number(chosen.epsilon)), 2);
    const proved = `Proved for the integers of the file: leakage ${above(design.leakage, 6)} nats at most. No report makes a ` +
      `category more than ${bound} times as likely, for every prior of the set.`;
    const optimal = design.certified ? "The design is optimal: value and bound agree to one part in a million." : "Not certified.";
    const parts = [element("p", `${proved} ${optimal}`), picture(design), guesses(design)];
    if (design.unit === "nats") {
      const values = [["this design", design.value], ...design.values];
      const rows = values.map(([name, value]) => [name, value === null ? "not computed" : value.toFixed(4)]);
      parts.push(table("Information of a report, in nats", ["mechanism", "nats"], rows));
    }
    const needed = design.respondents.map(([name, number]) => [name, count(number)]);
    parts.push(table("Respondents for a standard error of 0.01 of every share", ["mechanism", "respondents"], needed));
    if (design.equal !== null) {
      parts.push(element("p", `Local differential privacy has the error of this design at epsilon = ${design.equal}: equal ` +
        "errors, not equal promises."));
    }
    parts.push(download(design));
    for (const old of shown.querySelectorAll("a[download]")) URL.revokeObjectURL(old.href);
    shown.replaceChildren(...parts);
  }

  const shown = element("div", undefined, { "aria-live": "polite" });
  root.replaceChildren(controls(), shown);
  show();
})();
