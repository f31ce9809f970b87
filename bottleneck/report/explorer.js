/* The explorer: one sentence, its words kept and lost, and where each arm looked. */
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const app = document.getElementById("explorer-app");
  const choice = document.getElementById("explorer-choice");
  const shown = document.getElementById("explorer-shown");
  const KINDS = { survived: "survived", lost: "lost", "in part": "part", "not linked": "unjudged" };

  const FEW = 17; // source tokens up to which a map's fields are large

  /** An element with its class and children; texts stay texts. */
  function make(name, kind, ...children) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.append(...children);
    return made;
  }

  function head(text, scope) {
    const made = make("th", "", text);
    made.scope = scope;
    return made;
  }

  /** The box in which a wide table scrolls. */
  function scrolling(table, name) {
    const box = make("div", "scroll", table);
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", name);
    return box;
  }

  /** A caption that stays in sight where its table is scrolled. */
  function caption(text) {
    return make("caption", "", make("span", "", text));
  }

  function swatch(arm) {
    return make("span", `swatch arm-${arm.name}`);
  }

  /** The judged words in their order, each as this arm kept or lost it. */
  function words(sentence, held) {
    const line = make("p", "words");
    sentence.words.forEach(([word], place) => {
      const [fate] = held.fates[place];
      const kind = KINDS[fate];
      line.append(make(kind === "lost" ? "del" : "span", kind, word), " ");
    });
    return line;
  }

  function kept(sentence, held) {
    const fates = held.fates.map(([fate]) => fate);
    const judged = fates.filter((fate) => fate !== "not linked").length;
    const survived = fates.filter((fate) => fate === "survived").length;
    const part = fates.filter((fate) => fate === "in part").length;
    const what = sentence.linked ? "source words kept" : "reference words in the output";
    return `${survived} of ${judged} ${what}${part ? `, ${part} more in part` : ""}`;
  }

  /** A row an output token, a column a source token; the deeper the colour the greater the weight. */
  function heatmap(sentence, arm, held) {
    const where = arm.name === "none"
      ? "No attention: every output word is made from the last state, the column at the right"
      : `Where ${arm.name} looked`;
    const name = `${where}: a row an output word, a column a source word`;
    const many = sentence.source.length > FEW ? " many" : "";
    const table = make("table", `heat arm-${arm.name}${many}`, caption(name));
    const top = make("tr", "", make("td", ""));
    top.append(...sentence.source.map((word) => head(make("span", "", word), "col")));
    const body = make("tbody", "");
    held.output.forEach((word, row) => {
      const line = make("tr", "", head(word, "row"));
      sentence.source.forEach((source, column) => {
        const weight = held.weights[row][column] / 1000;
        const field = make("i", "");
        field.style.opacity = weight;
        const cell = make("td", "", field, make("b", "", weight.toFixed(2)));
        cell.title = `${word} ← ${source}: ${weight.toFixed(2)}`;
        line.append(cell);
      });
      body.append(line);
    });
    table.append(make("thead", "", top), body);
    return scrolling(table, name);
  }

  /** Every judged word with its fate in each arm. */
  function fates(sentence) {
    const table = make("table", "fates", caption("Word by word"));
    const named = sentence.linked;
    const top = make("tr", "", head(named ? "source word" : "reference word", "col"));
    if (named) top.append(head("class", "col"), head("reference", "col"));
    data.arms.forEach((arm) => top.append(head(arm.name, "col")));
    const body = make("tbody", "");
    sentence.words.forEach(([word, kind, reference], place) => {
      const line = make("tr", "", head(word, "row"));
      if (named) line.append(make("td", "", kind), make("td", "", reference));
      sentence.arms.forEach((held) => {
        const [fate, found] = held.fates[place];
        line.append(make("td", "", found && fate !== "lost" ? `${fate}: ${found}` : fate));
      });
      body.append(line);
    });
    table.append(make("thead", "", top), body);
    return make("details", "", make("summary", "", "Word by word"), scrolling(table, "Word by word"));
  }

  /** What one arm made of the sentence. */
  function block(sentence, arm, held) {
    const name = arm.name === "none" ? "none (no attention)" : arm.name;
    return make("div", "", make("h3", "", swatch(arm), `${name}: ${kept(sentence, held)}`),
      words(sentence, held),
      make("dl", "", make("dt", "", `Output (${arm.told})`), make("dd", "", held.text)),
      heatmap(sentence, arm, held));
  }

  function show(place) {
    const sentence = data.sentences[place];
    const list = make("dl", "", make("dt", "", "Source"), make("dd", "", sentence.text),
      make("dt", "", "Reference"), make("dd", "", sentence.reference));
    const arms = make("div", sentence.source.length > data.beside ? "arms" : "arms beside");
    data.arms.forEach((arm, number) => arms.append(block(sentence, arm, sentence.arms[number])));
    shown.replaceChildren(list, arms, fates(sentence));
    choice.value = String(place);
  }

  /** The sentence that the address names (#sentence=2), from 1; a telling one if it names none. */
  function named() {
    const found = /^#sentence=(\d+)$/.exec(location.hash);
    const place = found ? Number(found[1]) - 1 : data.first;
    return place in data.sentences ? place : data.first;
  }

  data.sentences.forEach((sentence, place) => {
    const option = make("option", "", `${sentence.length} words: ${sentence.text}`);
    option.value = String(place);
    choice.append(option);
  });
  choice.addEventListener("change", () => {
    location.replace(`#sentence=${Number(choice.value) + 1}`);
  });
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#sentence=")) show(named());
  });
  show(named());
  app.hidden = false;
  if (location.hash.startsWith("#sentence=")) app.scrollIntoView();
})();
