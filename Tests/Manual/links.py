# SPDX-License-Identifier: GPL-2.0-or-later
"""The links of the built manual, and what its pages would load."""

from __future__ import annotations

import html.parser
import json
import pathlib
import urllib.parse


class Page(html.parser.HTMLParser):
    """Targets, links and loaded resources of an HTML page."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.targets |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("script", "img", "iframe", "source", "video", "audio", "embed") and "src" in found:
            self.loaded.append(found["src"])
        elif tag == "link" and found.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(found.get("href", ""))


def faults(site: pathlib.Path) -> list[str]:
    """Returns the links to nothing, and the resources that are not part of the site."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if "library-reference" not in path.parts}
    found = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urllib.parse.urlsplit(link)
            name = path.relative_to(site)
            if parts.scheme in ("http", "https") or link.startswith("//"):
                if link in page.loaded:
                    found.append(f"{name} loads {link}")
                continue
            # The page for unknown addresses has links from the root.
            start = site if parts.path.startswith("/") else path.parent
            target = (start / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else path.resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{name} links to {link}, which is no file")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].targets:
                found.append(f"{name} links to {link}, which has no such place")
    return found + reference_faults(site)


def reference_faults(site: pathlib.Path) -> list[str]:
    """Returns the links of the library's reference to pages that the manual does not have. DocC has checked all others."""
    found = []
    for path in sorted((site / "library-reference/data").rglob("*.json")):
        for reference in json.loads(path.read_text()).get("references", {}).values():
            address = reference.get("url", "")
            if reference.get("type") == "link" and address.startswith("/") and not (site / address.lstrip("/")).is_file():
                found.append(f"{path.relative_to(site)} links to {address}, which is no file")
    return found
