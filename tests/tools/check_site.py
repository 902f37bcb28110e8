#!/usr/bin/env python3
"""usage: check_site.py FOLDER

Reads all pages of HTML in a folder, the style sheets and the search's index
there, and prints what is wrong: a link whose file or anchor is not there, an
anchor that stands twice in a page, whatever a browser would load from
elsewhere, and an entry of the index that leads nowhere. Exits 1 if anything is.
"""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class Reader(HTMLParser):
    """The anchors of a page, and all that it refers to."""

    def __init__(self, text):
        super().__init__()
        self.anchors = []
        self.links = []
        self.loaded = []  # what the browser loads without being asked
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key == "id":
                self.anchors.append(value)
            elif key == "href" and tag == "a":
                self.links.append(value)
            elif key in ("src", "href", "data", "poster", "action"):
                self.loaded.append(value)
            elif key == "style" and "url(" in value:
                self.loaded.append(value)


def main():
    folder = Path(sys.argv[1])
    pages = {path.name: Reader(path.read_text(encoding="utf-8"))
             for path in sorted(folder.glob("*.html"))}
    faults = []

    def check_link(where, link):
        if re.match("https?://", link):
            return
        path, _, anchor = link.partition("#")
        path = unquote(path) or where
        if not (folder / path).is_file():
            faults.append(f"{where}: {link}: there is no such file")
        elif anchor and unquote(anchor) not in pages[path].anchors:
            faults.append(f"{where}: {link}: there is no such anchor")

    for name, page in pages.items():
        for anchor in sorted(set(page.anchors)):
            if page.anchors.count(anchor) > 1:
                faults.append(f"{name}: the anchor {anchor} stands twice")
        for link in page.links:
            check_link(name, link)
        for file in page.loaded:
            if "//" in file or not (folder / file).is_file():
                faults.append(f"{name}: {file} is loaded, and not from here")
    for sheet in sorted(folder.glob("*.css")):
        for found in re.findall(r"url\(.*?\)|@import.*",
                                sheet.read_text(encoding="utf-8")):
            faults.append(f"{sheet.name}: {found} is loaded")

    script = (folder / "search-index.js").read_text(encoding="utf-8")
    index = json.loads(re.fullmatch(r"window\.gtSearch\((.*)\);\n", script)[1])
    found = set()
    for page, anchor, *_ in index["entries"]:
        found.add(index["pages"][page][0])
        check_link("search-index.js",
                   index["pages"][page][0] + ("#" + anchor if anchor else ""))
    for name in pages:
        if name != "index.html" and name not in found:
            faults.append(f"search-index.js: nothing is said of {name}")

    print("\n".join(faults) or f"{len(pages)} pages are sound")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
