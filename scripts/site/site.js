// The search of the pages that scripts/docs makes. The index is a script that
// calls gtSearch, since a page that is opened as a file may not fetch another;
// it is loaded when somebody first looks for something.
"use strict";

(() => {
  const most = 40; // results that are shown
  const form = document.querySelector("header form");
  const box = form.querySelector("input");
  const results = document.getElementById("site-results");
  let index = null;

  // A narrow page begins with its text, not with the list of its sections.
  const contents = document.querySelector(".contents details");
  const narrow = matchMedia("(max-width: 56rem)");
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();

  window.gtSearch = (data) => {
    index = data;
    for (const entry of index.entries) {
      entry.push(entry[2].toLowerCase(), entry[3].toLowerCase());
    }
    search();
  };

  const load = () => {
    if (document.getElementById("site-index")) return;
    const script = document.createElement("script");
    script.id = "site-index";
    script.src = "search-index.js";
    document.head.append(script);
  };

  const wordEdge = (text, at, size) =>
    !/\w/.test(text[at - 1] || " ") && !/\w/.test(text[at + size] || " ");

  // What it is worth that a word stands in a name or in the text; 0 is nowhere.
  const worth = (word, name, text) => {
    // Of things with this very name, the one that more is said of.
    if (name === word) return 100 + Math.min(text.length / 100, 9);
    let at = name.indexOf(word);
    if (at >= 0) {
      return (wordEdge(name, at, word.length) ? 50 : at === 0 ? 35 : 20) -
        Math.min(name.length / 10, 9);
    }
    let count = 0;
    let whole = 0;
    for (at = text.indexOf(word); at >= 0 && count < 5;
      at = text.indexOf(word, at + word.length)) {
      count += 1;
      if (wordEdge(text, at, word.length)) whole = 5;
    }
    return count + whole;
  };

  const find = (words) => {
    const found = [];
    for (const entry of index.entries) {
      let sum = 0;
      const fits = words.every((word) => {
        const one = worth(word, entry[4], entry[5]);
        sum += one;
        return one > 0;
      });
      if (fits) found.push([sum, entry]);
    }
    return found.sort((a, b) => b[0] - a[0]).map((pair) => pair[1]);
  };

  // The text around the first word, with all words marked.
  const excerpt = (entry, words) => {
    const first = Math.max(0, Math.min(...words.map((word) => {
      const at = entry[5].indexOf(word);
      return at < 0 ? Infinity : at;
    }).concat(entry[3].length)) - 60);
    const from = words.some((word) => entry[5].includes(word)) && first > 0 ?
      entry[3].indexOf(" ", first) + 1 : 0;
    const part = document.createElement("span");
    if (from) part.append("… ");
    const text = entry[3].slice(from, from + 180);
    const low = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
      let next = text.length;
      let size = 0;
      for (const word of words) {
        const here = low.indexOf(word, at);
        if (here >= 0 && here < next) [next, size] = [here, word.length];
      }
      part.append(text.slice(at, next));
      if (size) {
        const mark = document.createElement("mark");
        mark.textContent = text.slice(next, next + size);
        part.append(mark);
      }
      at = next + size;
    }
    if (from + 180 < entry[3].length) part.append(" …");
    return part;
  };

  const show = (entry, words) => {
    const [file, label] = index.pages[entry[0]];
    const link = document.createElement("a");
    link.href = entry[1] ? `${file}#${encodeURIComponent(entry[1])}` : file;
    const name = document.createElement("b");
    name.textContent = entry[2];
    link.append(name);
    if (label !== entry[2]) {
      const page = document.createElement("i");
      page.textContent = label;
      link.prepend(page);
    }
    link.append(excerpt(entry, words));
    return link;
  };

  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    results.hidden = words.length === 0;
    if (!words.length) return;
    load();
    if (!index) return;
    const found = find(words);
    const note = document.createElement("p");
    note.textContent = found.length === 0 ? "Nothing has all of these words." :
      found.length > most ? `The first ${most} of ${found.length} places` :
        found.length === 1 ? "1 place" : `${found.length} places`;
    results.replaceChildren(note,
      ...found.slice(0, most).map((entry) => show(entry, words)));
    results.scrollTop = 0;
  };

  // Of a session the commands are copied, without what they print.
  const copyButton = (session) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.title = "Copy the commands";
    button.addEventListener("click", async () => {
      const commands = [...session.querySelectorAll(".command")];
      await navigator.clipboard.writeText(
        commands.map((part) => `${part.textContent}\n`).join(""));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    return button;
  };
  for (const session of document.querySelectorAll("pre.session")) {
    const frame = document.createElement("div");
    frame.className = "example";
    session.replaceWith(frame);
    frame.append(session, copyButton(session));
  }

  const close = () => { results.hidden = true; };

  box.addEventListener("focus", load);
  box.addEventListener("input", search);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = results.querySelector("a");
    if (first) first.click();
  });
  results.addEventListener("click", (event) => {
    if (event.target.closest("a")) close();
  });
  document.addEventListener("click", (event) => {
    if (!form.contains(event.target)) close();
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === "Escape") {
      close();
      box.blur();
    } else if (/^Arrow(Down|Up)$/.test(event.key) && !results.hidden &&
      form.contains(document.activeElement)) {
      event.preventDefault();
      const stops = [box, ...results.querySelectorAll("a")];
      const at = stops.indexOf(document.activeElement);
      const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) next.focus();
    }
  });

  // A page may be asked for with a search, as ?q=matmul.
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    box.value = asked;
    search();
  }
})();
