/* The explorer: one sentence, the words that each arm kept or lost, and where it looked. */
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const app = document.getElementById("explorer-app");
  const choice = document.getElementById("explorer-choice");
  const shown = document.getElementById("explorer-shown");
  const KINDS = { survived: "", lost: "lost", "in part": "part", "not linked": "unjudged" };
  const SIDE_BY_SIDE = 28; // up to this many source tokens, two arms' maps are side by side

  /** An element with its class and children; text is never read as markup. */
  function make(name, kind, ...children) {
    const element = document.createElement(name);
    if (kind) element.className = kind;
    element.append(...children);
    return element;
  }

  /** A table in a box that scrolls; heads is its first row, and each row begins with its own head. */
  function table(name, kind, heads, rows) {
    const header = (scope) => (child) => {
      const cell = make("th", "", child);
      cell.scope = scope;
      return cell;
    };
    const lines = rows.map(([first, ...cells]) => make("tr", "", header("row")(first), ...cells));
    const box = make("div", "scroll", make("table", kind, make("caption", "", name),
      make("thead", "", make("tr", "", ...heads.map(header("col")))), make("tbody", "", ...lines)));
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", name);
    return box;
  }

  function kept(sentence, result) {
    const count = (fate) => result.fates.filter(([other]) => other === fate).length;
    const judged = result.fates.length - count("not linked");
    const what = sentence.linked ? "source words kept" : "reference words in the output";
    const part = count("in part") ? `, ${count("in part")} more in part` : "";
    return `${count("survived")} of ${judged} ${what}${part}`;
  }

  /** The judged words in order, marked as kept or lost by this arm; the pointer shows details. */
  function words(sentence, result) {
    const spans = sentence.words.map(([word, reference], index) => {
      const [fate, found] = result.fates[index];
      const span = make(fate === "lost" ? "del" : "span", KINDS[fate], word);
      span.title = `${fate}; reference: ${reference}; output: ${found}`;
      return span;
    });
    return make("p", "words", ...spans.flatMap((span) => [span, " "]));
  }

  /** A row for each output token, a column for each source token; a deeper colour is more weight. */
  function heatmap(sentence, arm, result) {
    const where = arm.name === "none"
      ? "No attention: every output word is made from the last state, the column at the right"
      : `Where ${arm.name} looked`;
    const rows = result.output.map((word, row) => [word, ...sentence.source.map((source, column) => {
      const weight = result.weights[row][column] / 1000;
      const field = make("i", "");
      field.style.opacity = weight;
      const cell = make("td", "", field);
      cell.title = `${word} ← ${source}: ${weight.toFixed(2)}`;
      return cell;
    })]);
    const name = `${where}: a row for each output word, a column for each source word`;
    return table(name, `heat arm-${arm.name}`, ["", ...sentence.source], rows);
  }

  /** A definition list of pairs of texts. */
  function list(pairs) {
    return make("dl", "", ...pairs.flatMap(([name, text]) => [make("dt", "", name), make("dd", "", text)]));
  }

  function show(index) {
    const sentence = data.sentences[index];
    const arms = data.arms.map((arm, place) => {
      const result = sentence.arms[place];
      const name = arm.name === "none" ? "none (no attention)" : arm.name;
      return make("div", "", make("h3", "", `${name}: ${kept(sentence, result)}`),
        words(sentence, result), list([[`Output (${arm.run})`, result.text]]),
        heatmap(sentence, arm, result));
    });
    shown.replaceChildren(list([["Source", sentence.text], ["Reference", sentence.reference]]),
      make("div", "arms", ...arms));
    choice.value = String(index);
  }

  data.sentences.forEach((sentence, index) => {
    const whose = sentence.lecture ? "the lecture's, " : "";
    const option = make("option", "", `${whose}${sentence.length} words: ${sentence.text}`);
    option.value = String(index);
    choice.append(option);
  });
  choice.addEventListener("change", () => show(choice.value));
  const sizes = data.sentences.map(({ source: { length } }) => length <= SIDE_BY_SIDE ? length : 0);
  show(sizes.indexOf(Math.max(...sizes))); // the longest that fits well
  app.hidden = false;
})();
